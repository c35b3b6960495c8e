package wiretest

import (
	"errors"
	"syscall"
	"testing"
)

// Whoever writes over a pulled cable is not told that the other end has closed,
// until the cable is in again.
func TestHeldClose(t *testing.T) {
	near, far := Pipe()
	near.Hold(true)
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := near.Write([]byte("anybody?")); n != 8 || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	near.Hold(false)
	if _, err := near.Write([]byte("anybody?")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v, want %v", err, syscall.EPIPE)
	}
}
