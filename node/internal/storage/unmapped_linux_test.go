package storage

import "syscall"

func init() {
	breakages = append(breakages, breakage{"memory fault", "StoreLogs", func(<-chan struct{}) func() error { return readUnmapped }})
}

// readUnmapped reads memory that must not be read, as bolt does where its file
// was cut short.
func readUnmapped() error {
	b, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	defer syscall.Munmap(b)
	if b[0] == 0 {
		return syscall.EIO
	}
	return nil
}
