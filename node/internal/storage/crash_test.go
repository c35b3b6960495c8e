package storage

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A process that is killed while it writes leaves a file that opens, and in it
// everything that it said it had stored.
func TestBoltKilledWhileWriting(t *testing.T) {
	if dir := os.Getenv("STORAGE_TEST_WRITE"); dir != "" {
		if err := writeForEver(t, dir); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "data")
	random := rand.New(rand.NewSource(3))
	stored := uint64(0)
	for range 6 {
		stored = max(stored, writeAndKill(t, dir, time.Duration(random.Intn(150))*time.Millisecond))
		g, err := openChecked(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		last, err := g.ForNode().Log.LastIndex()
		if err != nil || last < stored {
			t.Errorf("entry %d was stored, but the last one is %d: %v", stored, last, err)
		}
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if stored == 0 {
		t.Error("nothing was ever stored")
	}
}

// writeForEver stores entries, says so, and compacts the log now and then.
func writeForEver(t *testing.T, dir string) error {
	g, err := openChecked(t, dir)
	if err != nil {
		return err
	}
	s := g.ForNode()
	if err := s.Stable.SetUint64(keyCurrentTerm, 1); err != nil {
		return err
	}
	last, err := s.Log.LastIndex()
	for ; err == nil; last += 5 {
		if err = s.Log.StoreLogs(commands(last+1, last+5, 1)); err != nil {
			break
		}
		if last > 200 && last%50 == 0 {
			err = compact(s, last)
		}
		fmt.Println("stored", last+5)
	}
	return err
}

// compact makes a snapshot and deletes most entries before it, as Raft does.
func compact(s Stores, index uint64) error {
	persisted, err := s.Snapshots.Create(1, index, 1, testConfiguration, 1, nopTransport)
	if err != nil {
		return err
	}
	if err := persisted.Close(); err != nil {
		return err
	}
	first, err := s.Log.FirstIndex()
	if err != nil {
		return err
	}
	return s.Log.DeleteRange(first, index-100)
}

// writeAndKill returns the last entry that the process said it had stored.
func writeAndKill(t *testing.T, dir string, after time.Duration) (stored uint64) {
	t.Helper()
	writer := exec.Command(os.Args[0], "-test.run=TestBoltKilledWhileWriting")
	writer.Env = append(os.Environ(), "STORAGE_TEST_WRITE="+dir)
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	var killer *time.Timer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said, ok := strings.CutPrefix(lines.Text(), "stored ")
		if !ok {
			t.Errorf("the writer says %q", lines.Text())
			continue
		}
		if stored, err = strconv.ParseUint(said, 10, 64); err != nil {
			t.Error(err)
		}
		if killer == nil {
			killer = time.AfterFunc(after, func() { writer.Process.Kill() })
		}
	}
	var exit *exec.ExitError
	if err := writer.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Errorf("the writer ended by itself: %v", err)
	}
	return stored
}
