package storage

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
)

// A disk that is full stops the node with an error that says so. What was
// acknowledged before is there once there is room again, and a start needs no
// more than that.
func TestBoltOnAFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("no small disk to fill: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	}()
	dir := filepath.Join(disk, "data")
	g, err := openChecked(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	s := g.ForNode()
	if err := s.Stable.SetUint64(keyCurrentTerm, 1); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(disk, "ballast")
	writeBallast(t, ballast)
	stored, err := storeUntilFull(s)
	var failed *FailedError
	if !errors.As(err, &failed) || !errors.Is(err, syscall.ENOSPC) || stored == 0 {
		t.Errorf("after entry %d: %v", stored, err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}

	// It may or may not open while the disk is full, but then it says why.
	if g, err := openChecked(t, dir); err == nil {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	} else if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("opening on the full disk: %v", err)
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	g, err = openChecked(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if last, err := g.ForNode().Log.LastIndex(); last < stored || err != nil {
		t.Errorf("of %d entries there are %d, %v", stored, last, err)
	}
	if err := g.ForNode().Log.StoreLog(command(stored+1, 1)); err != nil {
		t.Error(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// writeBallast fills the disk but for little.
func writeBallast(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	written, err := io.Copy(file, endless{})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := errors.Join(file.Truncate(written-256<<10), file.Close()); err != nil {
		t.Fatal(err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// storeUntilFull returns the last entry that was stored, and the error.
func storeUntilFull(s Stores) (stored uint64, err error) {
	for err == nil && stored < 10_000 {
		log := raft.Log{Index: stored + 1, Term: 1, Type: raft.LogConfiguration}
		log.Data = raft.EncodeConfiguration(raft.Configuration{Servers: []raft.Server{{ID: raft.ServerID(bytes.Repeat([]byte("x"), 2000))}}})
		if err = s.Log.StoreLog(&log); err == nil {
			stored++
		}
	}
	return stored, err
}
