package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A disk is the file system as the store uses it. It is the seam behind which
// tests freeze and kill processes, and cut the power.
type disk interface {
	makeDir(path string) error            // durable, with its parent; no error if it exists
	names(dir string) ([]string, error)   // of the files in it
	create(path string) (file, error)     // exclusively; fs.ErrExist if the name is taken
	read(path string) ([]byte, error)     // the whole content
	exists(path string) (bool, error)     // whether the name is taken
	rename(oldPath, newPath string) error // atomic
	remove(path string) error             // of a file
	syncDir(path string) error            // makes what happened to its names durable
}

// A file is open for appending.
type file interface {
	io.WriteCloser
	Sync() error // makes its content durable
}

type osDisk struct{}

// makeDir syncs the two directories above path also where path exists: another
// process may have made it a moment ago and not have come to that.
func (d osDisk) makeDir(path string) error {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	parent := filepath.Dir(path)
	return errors.Join(d.syncDir(parent), d.syncDir(filepath.Dir(parent)))
}

func (osDisk) names(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

func (osDisk) create(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (osDisk) read(path string) ([]byte, error) { return os.ReadFile(path) }

func (osDisk) exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (osDisk) rename(oldPath, newPath string) error { return os.Rename(oldPath, newPath) }

func (osDisk) remove(path string) error { return os.Remove(path) }

func (osDisk) syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
