//go:build unix

package storage

import "syscall"

// readUnmapped reads memory that was unmapped, as bolt does where its file was
// cut short.
func readUnmapped() error {
	b, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	if err := syscall.Mprotect(b, syscall.PROT_NONE); err != nil {
		return err
	}
	defer syscall.Munmap(b)
	if b[0] == 1 {
		return nil
	}
	return nil
}
