//go:build !unix || solaris || aix

package storage

import "io"

// lockFolder does nothing where the system has no flock: bolt's own lock on its
// file is then what keeps two processes apart.
func lockFolder(string) (io.Closer, error) { return noLock{}, nil }

type noLock struct{}

func (noLock) Close() error { return nil }
