//go:build unix && !solaris && !aix

package storage

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockPause is how long lockFolder waits between two tries.
const lockPause = 20 * time.Millisecond

// lockFolder keeps every other process, and every other opening in this one,
// out of a data folder until the lock is closed. The system drops the lock of a
// process that ends, however it ends.
func lockFolder(dir string) (io.Closer, error) {
	path := filepath.Join(dir, lockName)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: can't be opened: %w", path, err)
	}
	for began := time.Now(); ; time.Sleep(lockPause) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			file.Close()
			return nil, fmt.Errorf("%s: can't be locked: %w", path, err)
		}
		if time.Since(began) > lockWait {
			file.Close()
			return nil, errInUse(dir)
		}
	}
}
