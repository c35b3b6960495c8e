package storage

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// quickDir returns a folder in memory where the system has one: writes do not
// wait for a disk there.
func quickDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "storage")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// filled makes a data folder with what fill stores.
func filled(t *testing.T, last uint64) (dir string) {
	t.Helper()
	dir = filepath.Join(quickDir(t), "data", "n1")
	g := newGuarded(t, Bolt(dir))
	fill(t, g.ForNode(), last)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openChecked opens a data folder as a node does.
func openChecked(t *testing.T, dir string) (*Guarded, error) {
	stores, err := Bolt(dir).Open(hclog.NewNullLogger())
	if err != nil {
		return nil, err
	}
	g := Guard(stores, GuardConfig{Clock: &handClock{}, CheckEntry: checkTestEntry, Fail: func(error) {}})
	if err := g.Check(); err != nil {
		if cerr := g.Close(); cerr != nil {
			t.Error(cerr)
		}
		return nil, err
	}
	return g, nil
}

// The folder is for its owner only, and holds what the documentation says.
func TestBoltFolder(t *testing.T) {
	dir := filled(t, 30)
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v", info.Mode())
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if got := strings.Join(names, " "); got != "lock raft.db snapshots" {
		t.Errorf("the folder holds %s", got)
	}
}

// A folder in use is refused, with its name, within about a second.
func TestBoltSecondOpener(t *testing.T) {
	dir := filled(t, 30)
	g, err := openChecked(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = openChecked(t, dir)
	if err == nil || !strings.Contains(err.Error(), "in use by another process") || !strings.Contains(err.Error(), dir) {
		t.Errorf("second opening: %v", err)
	}
	if took := time.Since(began); took < lockWait {
		t.Errorf("it gave up after %v", took)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if g, err = openChecked(t, dir); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// A folder that a process had when it was killed is free at once.
func TestBoltAfterAKill(t *testing.T) {
	if dir := os.Getenv("STORAGE_TEST_HOLD"); dir != "" {
		if _, err := openChecked(t, dir); err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("holding\n")
		select {}
	}
	dir := filled(t, 30)
	holder := exec.Command(os.Args[0], "-test.run=TestBoltAfterAKill")
	holder.Env = append(os.Environ(), "STORAGE_TEST_HOLD="+dir)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Error(err)
	}
	if _, err := openChecked(t, dir); err == nil {
		t.Error("it opened while another process has it")
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	holder.Wait()
	g, err := openChecked(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	expectFill(t, g.ForNode(), 30)
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// What opening refuses, and what it puts right.
func TestBoltOpen(t *testing.T) {
	write := func(t *testing.T, path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		change func(t *testing.T, dir string)
		says   string // "" if it opens
	}{
		"nothing": {func(t *testing.T, dir string) {}, ""},
		"the log is gone": {func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, boltName))
		}, "raft.db is damaged: it is not there, but"},
		"the log was made anew": {func(t *testing.T, dir string) {
			other := quickDir(t)
			raw(t, Bolt(other), func(Stores) {})
			if err := os.Rename(filepath.Join(other, boltName), filepath.Join(dir, boltName)); err != nil {
				t.Fatal(err)
			}
		}, "raft.db is damaged: it is empty, but"},
		"an empty file": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, boltName), "")
		}, "raft.db is damaged: it has only 0 bytes"},
		"another file": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, boltName), strings.Repeat("not a database\n", 1000))
		}, "raft.db is damaged: the meta page at byte 0"},
		"a folder in its place": {func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, boltName))
			os.Mkdir(filepath.Join(dir, boltName), 0o700)
		}, "raft.db: is not a file"},
		"a log from an interrupted start": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, boltNewName), "half made")
		}, ""},
		"an interrupted first start": {func(t *testing.T, dir string) {
			os.RemoveAll(dir)
			os.MkdirAll(filepath.Join(dir, snapshotsName), 0o700)
			write(t, filepath.Join(dir, boltNewName), "half made")
		}, ""},
		"an unfinished snapshot": {func(t *testing.T, dir string) {
			os.Mkdir(filepath.Join(dir, snapshotsName, "3-25-1700000000000.tmp"), 0o700)
		}, ""},
		"a strange name among the snapshots": {func(t *testing.T, dir string) {
			os.Mkdir(filepath.Join(dir, snapshotsName, "lost+found"), 0o700)
		}, ""},
		"a file in the folder's place": {func(t *testing.T, dir string) {
			os.RemoveAll(dir)
			write(t, dir, "a file")
		}, "not a directory"},
		"broken metadata of the only snapshot": {func(t *testing.T, dir string) {
			write(t, filepath.Join(onlySnapshot(t, dir), metaName), "{")
		}, "entries 1 to 9 are neither in a snapshot nor in the log: snapshot 3-20-"},
		"no metadata of the only snapshot": {func(t *testing.T, dir string) {
			os.Remove(filepath.Join(onlySnapshot(t, dir), metaName))
		}, "entries 1 to 9 are neither"},
		"metadata of another snapshot": {func(t *testing.T, dir string) {
			path := filepath.Join(onlySnapshot(t, dir), metaName)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, strings.ReplaceAll(string(b), `"Index":20`, `"Index":21`))
		}, "its metadata is not what its seal says"},
		"a snapshot's state": {func(t *testing.T, dir string) {
			path := filepath.Join(onlySnapshot(t, dir), "state.bin")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)-1] ^= 1
			write(t, path, string(b))
		}, "CRC mismatch"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filled(t, 30)
			c.change(t, dir)
			g, err := openChecked(t, dir)
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				if err := g.Close(); err != nil {
					t.Error(err)
				}
				left, _ := filepath.Glob(filepath.Join(dir, "*", "*.tmp"))
				if fresh, _ := filepath.Glob(filepath.Join(dir, boltNewName)); name == "an interrupted first start" {
					left = append(left, fresh...)
				}
				if len(left) > 0 {
					t.Errorf("it left %v", left)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), dir) {
				t.Errorf("opening: %v\nwant: %s", err, c.says)
			}
		})
	}
}

func onlySnapshot(t *testing.T, dir string) string {
	t.Helper()
	names, err := snapshotNames(filepath.Join(dir, snapshotsName))
	if err != nil || len(names) != 1 {
		t.Fatalf("snapshots %v, %v", names, err)
	}
	return filepath.Join(dir, snapshotsName, names[0].id)
}

// Two snapshots are kept, and a newer broken one does not push them out.
func TestBoltRetainsSnapshots(t *testing.T) {
	dir := filled(t, 30)
	g, err := openChecked(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	snapshots := g.ForNode().Snapshots
	for _, index := range []uint64{25, 28, 30} {
		sink, err := snapshots.Create(1, index, 3, raft.Configuration{}, 1, nopTransport)
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cancelled, err := snapshots.Create(1, 31, 3, raft.Configuration{}, 1, nopTransport)
	if err != nil {
		t.Fatal(err)
	}
	if err := cancelled.Cancel(); err != nil {
		t.Error(err)
	}
	metas, err := snapshots.List()
	if err != nil || len(metas) != 2 || metas[0].Index != 30 || metas[1].Index != 28 {
		t.Errorf("snapshots %v, %v", metas, err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, snapshotsName, metas[0].ID, metaName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if g, err = openChecked(t, dir); err != nil {
		t.Fatal(err)
	}
	left, err := g.ForNode().Snapshots.List()
	if err != nil || len(left) != 1 || left[0].Index != 28 {
		t.Errorf("snapshots %v, %v", left, err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// An error of closing is told, and the lock goes all the same.
func TestBoltCloseTwice(t *testing.T) {
	dir := filled(t, 30)
	s, err := Bolt(dir).Open(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a second Close: %v", err)
	}
}
