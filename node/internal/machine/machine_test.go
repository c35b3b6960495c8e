package machine

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/watch"
)

// A replica is a machine and the log that it applies.
type replica struct {
	*Machine
	t      *testing.T
	index  uint64
	stored map[uint64]time.Duration // by index, of term 1
	failed error
}

func newReplica(t *testing.T) *replica {
	r := &replica{t: t, stored: make(map[uint64]time.Duration)}
	ring := watch.NewRing(16)
	t.Cleanup(ring.Close)
	r.Machine = New(Config{
		Clock: tenure.MonotonicClock(),
		StoredAt: func(index, term uint64) (time.Duration, bool) {
			at, ok := r.stored[index]
			return at, ok && term == 1
		},
		Fail: func(err error) { r.failed = err },
		Ring: ring,
	})
	r.Lead(true)
	r.apply(1, fsm.Command{Kind: fsm.Cluster, Settings: fsm.Settings{ClusterID: "c", LargestTTL: time.Hour}})
	return r
}

func (r *replica) apply(term uint64, commands ...fsm.Command) []fsm.Result {
	r.t.Helper()
	data, err := fsm.AppendEntry(nil, commands)
	if err != nil {
		r.t.Fatal(err)
	}
	r.index++
	applied, ok := r.Apply(&raft.Log{Index: r.index, Term: term, Type: raft.LogCommand, Data: data}).(*Applied)
	if !ok {
		r.t.Fatalf("not applied: %v", r.failed)
	}
	return applied.Results
}

func acquire(key string, ttl time.Duration) fsm.Command {
	return fsm.Command{Kind: fsm.Acquire, Key: key, Owner: "a", RequestID: "1", TTL: ttl}
}

func renewal(key string, epoch uint64, ttl time.Duration) fsm.Command {
	return fsm.Command{Kind: fsm.Renew, Key: key, Owner: "a", Epoch: epoch, TTL: ttl}
}

func TestExpiryCountsFromTheNewestGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t)
		first := r.apply(1, acquire("k", time.Second))[0]
		time.Sleep(900 * time.Millisecond)
		second := r.apply(1, renewal("k", first.Record.Epoch, time.Second))[0]
		time.Sleep(999 * time.Millisecond)
		if j := r.Judge("k"); j.Grantable || j.Remaining != time.Millisecond {
			t.Errorf("just before the end: %+v", j)
		}
		time.Sleep(time.Millisecond)
		want := fsm.Evidence{Epoch: first.Record.Epoch, GrantIndex: second.GrantIndex}
		if j := r.Judge("k"); !j.Grantable || j.Evidence != want {
			t.Errorf("at the end: %+v, want grantable with evidence %+v", j, want)
		}
	})
}

// The instant of storing counts only for the same index and term: an entry that
// was truncated and written anew counts from its apply.
func TestInstantOfStoringNeedsItsTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t)
		time.Sleep(time.Minute)
		now := r.cfg.Clock.Now()
		r.stored[r.index+1] = now - 400*time.Millisecond
		r.apply(1, acquire("stored", time.Second))
		r.stored[r.index+1] = now - 400*time.Millisecond
		r.apply(2, acquire("rewritten", time.Second))
		if left := r.Judge("stored").Remaining; left != 600*time.Millisecond {
			t.Errorf("stored in this term: %v left, want 600ms", left)
		}
		if left := r.Judge("rewritten").Remaining; left != time.Second {
			t.Errorf("stored in another term: %v left, want the whole 1s", left)
		}
	})
}

// After a restore every tenure counts from the restore, in full.
func TestRestoreCountsFromItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t)
		r.apply(1, acquire("k", time.Second))
		time.Sleep(900 * time.Millisecond)
		snapshot, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		var data bytes.Buffer
		if err := snapshot.Persist(&sink{Buffer: &data}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		other := newReplica(t)
		other.apply(1, acquire("gone", time.Minute))
		if err := other.Restore(io.NopCloser(&data)); err != nil {
			t.Fatal(err)
		}
		if j := other.Judge("k"); j.Grantable || j.Remaining != time.Second {
			t.Errorf("after the restore: %+v, want the whole TTL", j)
		}
		if j := other.Judge("gone"); j.Known {
			t.Errorf("a restore kept what it should replace: %+v", j)
		}
		time.Sleep(time.Second)
		if j := other.Judge("k"); !j.Grantable {
			t.Errorf("a TTL after the restore: %+v", j)
		}
	})
}

// A slot that went to another tenure lends it no older instant.
func TestReusedSlotHasItsOwnInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplica(t)
		first := r.apply(1, acquire("one", time.Second))[0]
		time.Sleep(time.Hour)
		r.apply(1, fsm.Command{Kind: fsm.Forget, Key: "one", Owner: "a", Epoch: first.Record.Epoch},
			fsm.Command{Kind: fsm.Release, Key: "one", Owner: "a", Epoch: first.Record.Epoch})
		second := r.apply(1, acquire("two", time.Second))[0]
		if second.Number.Slot != first.Number.Slot {
			t.Fatalf("slot %d was not used again but %d", first.Number.Slot, second.Number.Slot)
		}
		if j := r.Judge("two"); j.Grantable || j.Remaining != time.Second {
			t.Errorf("the new tenure: %+v", j)
		}
	})
}

// An entry that can't be applied is told once, changes nothing, and nothing is
// applied or saved after it.
func TestUndecodableEntryStopsTheMachine(t *testing.T) {
	r := newReplica(t)
	r.apply(1, acquire("k", time.Second))
	index, checksum := r.Checksum()
	r.Apply(&raft.Log{Index: r.index + 1, Term: 1, Type: raft.LogCommand, Data: []byte{99, 1, 2, 3}})
	if r.failed == nil {
		t.Fatal("nobody was told")
	}
	data, _ := fsm.AppendEntry(nil, []fsm.Command{acquire("later", time.Second)})
	if got := r.Apply(&raft.Log{Index: r.index + 2, Term: 1, Type: raft.LogCommand, Data: data}); got != nil {
		t.Errorf("a later entry was applied: %+v", got)
	}
	if i, c := r.Checksum(); i != index || c != checksum {
		t.Errorf("the state moved from %d %x to %d %x", index, checksum, i, c)
	}
	if _, err := r.Snapshot(); !errors.Is(err, r.failed) {
		t.Errorf("a snapshot was taken: %v", err)
	}
}

func TestHistoryFindsEveryKeptIndex(t *testing.T) {
	var h history
	for i := uint64(1); i <= 3*historyMarks; i++ {
		h.add(2*i, i)
	}
	for i := uint64(1); i <= 3*historyMarks; i++ {
		got, ok := h.at(2 * i)
		if kept := i > 2*historyMarks; ok != kept || ok && got != i {
			t.Fatalf("index %d: %d, %v", 2*i, got, ok)
		}
		if _, ok := h.at(2*i + 1); ok {
			t.Fatalf("found index %d, which was never added", 2*i+1)
		}
	}
}

// sink is where a snapshot goes in a test.
type sink struct{ *bytes.Buffer }

func (s *sink) Close() error  { return nil }
func (s *sink) Cancel() error { return nil }
func (s *sink) ID() string    { return "test" }

// A forget that is sent again changes nothing, and watches hear of it once.
func TestRepeatedForgetIsNoEvent(t *testing.T) {
	r := newReplica(t)
	w := r.cfg.Ring.Watch(watch.Options{})
	defer w.Close()
	epoch := r.apply(1, acquire("k", time.Second))[0].Record.Epoch
	forget := fsm.Command{Kind: fsm.Forget, Key: "k", Owner: "a", Epoch: epoch}
	r.apply(1, forget)
	r.apply(1, forget, forget)
	r.apply(1, fsm.Command{Kind: fsm.Release, Key: "k", Owner: "a", Epoch: epoch})
	var kinds []tenure.EventKind
	for range 3 {
		e, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, e.Kind)
	}
	want := []tenure.EventKind{tenure.EventGranted, tenure.EventForgotten, tenure.EventReleased}
	if !slices.Equal(kinds, want) {
		t.Errorf("the watch saw %v, want %v", kinds, want)
	}
}
