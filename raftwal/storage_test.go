package raftwal

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"example.com/tenure"
	"example.com/tenure/node"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("rapid.checks", "15") // each of them syncs a hundred times
	goleak.VerifyTestMain(m)
}

// A node that is closed and opened again has what it had.
func TestNodeKeepsItsLeases(t *testing.T) {
	dir, addr := t.TempDir(), freeAddr(t)
	n := openNode(t, dir, addr)
	req := tenure.AcquireRequest{Owner: "o", Asks: []tenure.Ask{{Key: "k", RequestID: "1", TTL: time.Minute}}}
	if r := n.Acquire(t.Context(), req)[0]; r.Err != nil {
		t.Fatal(r.Err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n = openNode(t, dir, addr)
	defer n.Close()
	if v, err := n.Get(t.Context(), "k"); err != nil || v.Record.Owner != "o" || !v.Record.Held {
		t.Errorf("after the restart: %+v, %v", v, err)
	}
}

func openNode(t *testing.T, dir, addr string) *node.Node {
	t.Helper()
	n, err := node.Open(t.Context(), node.Config{ID: "n1", Listen: addr, Peers: []node.Peer{{ID: "n1", Addr: addr}}, Storage: Storage(dir)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := n.WaitReady(ctx); err != nil {
		n.Close()
		t.Fatal(err)
	}
	return n
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A folder is opened by the storage that made it, and by no other.
func TestOnlyItsOwnFolder(t *testing.T) {
	t.Run("bolt refuses it", func(t *testing.T) {
		dir, addr := t.TempDir(), freeAddr(t)
		if err := openNode(t, dir, addr).Close(); err != nil {
			t.Fatal(err)
		}
		n, err := node.Open(t.Context(), node.Config{ID: "n1", Listen: addr, Peers: []node.Peer{{ID: "n1", Addr: addr}}, Dir: dir})
		if err == nil {
			n.Close()
			t.Fatal("bolt's storage opened a folder whose log is here")
		}
	})
	t.Run("it refuses bolt's", func(t *testing.T) {
		dir := t.TempDir()
		stores, err := node.BoltStorage(dir).Open(hclog.NewNullLogger())
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(stores.Log.StoreLog(entry(1)), stores.Log.StoreLog(entry(2)), stores.Close())
		if err != nil {
			t.Fatal(err)
		}
		if stores, err := Storage(dir).Open(hclog.NewNullLogger()); err == nil || !strings.Contains(err.Error(), "BoltStorage") {
			t.Errorf("opened a folder whose log is bolt's: %+v, %v", stores, err)
		}
	})
}

// A file that a node can't have lost by a crash makes it refuse its folder.
func TestMissingFiles(t *testing.T) {
	for _, c := range []struct{ name, lost string }{
		{"the list of segments", filepath.Join(logName, listName)},
		{"the log", logName},
		{"the bolt file", "raft.db"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			l := openLog(t, dir)
			l.append(1, 10)
			l.close()
			if err := os.RemoveAll(filepath.Join(dir, c.lost)); err != nil {
				t.Fatal(err)
			}
			if _, err := Storage(dir).Open(hclog.NewNullLogger()); !errors.Is(err, ErrDamaged) {
				t.Errorf("opening gives %v, want damaged", err)
			}
		})
	}
}

// A first start that a crash interrupted anywhere is made again.
func TestInterruptedFirstStart(t *testing.T) {
	dir := t.TempDir()
	stores, err := node.BoltStorage(dir).Open(hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	if err := stores.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, logName), 0o700); err != nil {
		t.Fatal(err)
	}
	l := openLog(t, dir)
	l.append(1, 3)
	l.close()
	l = openLog(t, dir)
	defer l.close()
	l.mustHave(1, 3)
}

func TestInUse(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, dir)
	defer l.close()
	if _, err := Storage(dir).Open(hclog.NewNullLogger()); err == nil {
		t.Error("opened a folder that is open already")
	}
}

// testSegment is the size of the segments that tests make.
const testSegment = 16 << 10

// A testLog is a log that is open.
type testLog struct {
	t      testing.TB
	stores node.Stores
}

func tryLog(dir string) (node.Stores, error) {
	return storage{dir, testSegment}.Open(hclog.NewNullLogger())
}

func openLog(t testing.TB, dir string) *testLog {
	t.Helper()
	stores, err := tryLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &testLog{t, stores}
}

func (l *testLog) close() {
	l.t.Helper()
	if err := l.stores.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// append stores the entries from first to last in one batch.
func (l *testLog) append(first, last uint64) {
	l.t.Helper()
	var batch []*raft.Log
	for i := first; i <= last; i++ {
		batch = append(batch, entry(i))
	}
	if err := l.stores.Log.StoreLogs(batch); err != nil {
		l.t.Fatal(err)
	}
}

// mustHave checks that the log is the entries from first to last.
func (l *testLog) mustHave(first, last uint64) {
	l.t.Helper()
	gotFirst, err1 := l.stores.Log.FirstIndex()
	gotLast, err2 := l.stores.Log.LastIndex()
	if err := errors.Join(err1, err2); err != nil || gotFirst != first || gotLast != last {
		l.t.Fatalf("the log has entries %d to %d (%v), want %d to %d", gotFirst, gotLast, err, first, last)
	}
	for i := first; i <= last && i > 0; i++ {
		var got raft.Log
		if err := l.stores.Log.GetLog(i, &got); err != nil || got.Index != i || string(got.Data) != string(entry(i).Data) {
			l.t.Fatalf("entry %d is %+v, %v", i, got, err)
		}
	}
}

// entry returns the entry of an index, the same at each call; some are longer
// than a sector.
func entry(index uint64) *raft.Log {
	data := strings.Repeat(string(rune('a'+index%26)), int(20+index*index*37%900))
	return &raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: []byte(data), Extensions: []byte("seal")}
}
