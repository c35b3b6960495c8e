package fsm

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestProperties sends random batches through the state and the model. After
// each they agree on all records and all results, and what must hold for a key
// holds: its epochs never repeat or go down, whatever was forgotten, dropped or
// restored; its forgotten epoch never goes down, but by the restore of a backup
// that doesn't know of the forget.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		w.found(t)
		t.Repeat(map[string]func(*rapid.T){
			"entry":   w.entry,
			"replay":  w.replay,
			"keep":    w.keep,
			"kept":    w.checkKept,
			"restore": w.restore,
			"end":     w.end,
			"":        w.check,
		})
	})
}

// A world is a state with its model, and what happened to them.
type world struct {
	state   *State
	model   *model
	index   uint64
	start   []byte // snapshot of the state that the log begins with
	log     []logged
	epochs  map[string]uint64 // highest epoch granted
	forgot  map[string]uint64 // highest forgotten epoch seen
	numbers []Number          // given so far
	kept    []kept
	ends    int
}

type logged struct {
	index uint64
	entry []byte
}

// A kept is a snapshot that was not written at once.
type kept struct {
	snapshot *Snapshot
	bytes    []byte
	model    *model
}

func newWorld() *world {
	return &world{state: New(), model: newModel(), epochs: map[string]uint64{}, forgot: map[string]uint64{}}
}

func (w *world) found(t *rapid.T) {
	w.start = snapshotBytes(t, w.state)
	w.apply(t, []Command{{Kind: Cluster, Settings: Settings{ClusterID: "c0", LargestTTL: largestDrawn}}})
}

func (w *world) entry(t *rapid.T) {
	w.apply(t, rapid.SliceOfN(rapid.Custom(w.command), 0, 6).Draw(t, "commands"))
}

func (w *world) apply(t *rapid.T, commands []Command) {
	entry, err := AppendEntry(nil, commands)
	if err != nil {
		t.Fatalf("encode %+v: %v", commands, err)
	}
	w.index += rapid.Uint64Range(1, 3).Draw(t, "step")
	results, err := w.state.Apply(w.index, entry, nil)
	if err != nil || len(results) != len(commands) {
		t.Fatalf("%d results for %d commands: %v", len(results), len(commands), err)
	}
	w.log = append(w.log, logged{w.index, entry})
	for i, c := range commands {
		v := w.model.apply(w.index, c)
		w.compare(t, c, v, results[i])
		if v.code == Granted {
			w.numbers = append(w.numbers, results[i].Number)
			if v.record.epoch <= w.epochs[c.Key] {
				t.Fatalf("key %q was granted epoch %d, after %d", c.Key, v.record.epoch, w.epochs[c.Key])
			}
			w.epochs[c.Key] = v.record.epoch
		}
	}
}

func (w *world) compare(t *rapid.T, c Command, v verdict, r Result) {
	want := Result{Code: v.code, Previous: v.previous, Repeated: v.repeated}
	if v.code != Invalid && v.code != Changed {
		want.Record = Record{Key: v.key, Owner: v.record.owner, Epoch: v.record.epoch, ForgottenAtEpoch: v.record.forgotten, Held: v.record.held}
		want.TTL, want.GrantIndex = v.record.ttl, v.record.grant
	}
	switch v.code {
	case Renewed:
		want.Record.Key, want.Record.Owner = "", ""
		fallthrough
	case Granted, Released, Forgotten:
		want.Number = Number{Slot: v.record.slot, Serial: v.record.serial}
	case Invalid:
		if r.Reason == "" {
			t.Fatalf("%+v is invalid without a reason", c)
		}
		r.Reason = ""
	}
	if r != want {
		t.Fatalf("%+v\n got %+v\nwant %+v", c, r, want)
	}
}

// check compares the whole state with the model.
func (w *world) check(t *rapid.T) {
	audit(t, w.state)
	n := 0
	w.state.Each(func(l Lookup) bool {
		n++
		w.checkKey(t, l.Record.Key, l)
		return true
	})
	if n != len(w.model.records) {
		t.Fatalf("%d records, want %d", n, len(w.model.records))
	}
	for key, before := range w.forgot {
		l := w.state.Lookup(key)
		w.checkKey(t, key, l)
		if l.Record.ForgottenAtEpoch < before {
			t.Fatalf("key %q: forgotten epoch %d, after %d", key, l.Record.ForgottenAtEpoch, before)
		}
	}
	for _, key := range keysDrawn {
		w.forgot[key] = w.state.Lookup(key).Record.ForgottenAtEpoch
	}
	number, standing := w.state.Marker()
	if w.state.Floor() != w.model.floor || w.state.Base() != w.model.base || number != w.model.base || standing != w.model.marked {
		t.Fatalf("floor %d, base %d, marker %v; want %+v", w.state.Floor(), w.state.Base(), standing, w.model)
	}
}

func (w *world) checkKey(t *rapid.T, key string, l Lookup) {
	r := w.model.standsFor(key)
	want := Lookup{
		Record:     Record{Key: key, Owner: r.owner, Epoch: r.epoch, ForgottenAtEpoch: r.forgotten, Held: r.held},
		Known:      w.model.records[key] != nil,
		GrantIndex: r.grant,
		TTL:        r.ttl,
	}
	if r.held {
		want.Number = Number{Slot: r.slot, Serial: r.serial}
	}
	if l != want {
		t.Fatalf("got %+v\nwant %+v", l, want)
	}
	if n, ok := numberFor(w.state, key, r.owner, r.epoch); ok != r.held || n != want.Number {
		t.Fatalf("number %v, %v; want %v", n, ok, want.Number)
	}
	if at, ok := w.state.Tenure(want.Number); ok != r.held || ok && at != want {
		t.Fatalf("tenure %v is %+v; want %+v", want.Number, at, want)
	}
	if present, last := w.state.IsRequest(key, r.owner, r.request); want.Known && (present != r.held || last == r.held) {
		t.Fatalf("key %q: present %v, last %v; want %+v", key, present, last, want)
	}
}

// replay applies the whole log anew, and once more with a snapshot in between:
// all three states are the same, byte for byte.
func (w *world) replay(t *rapid.T) {
	want := snapshotBytes(t, w.state)
	cut := rapid.IntRange(0, len(w.log)).Draw(t, "cut")
	full, err := Restore(bytes.NewReader(w.start), WithSeed(1, 2))
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	tail := full
	for i, l := range w.log {
		if i == cut {
			if tail, err = Restore(bytes.NewReader(snapshotBytes(t, full))); err != nil {
				t.Fatalf("restore: %v", err)
			}
		}
		results, err := full.Apply(l.index, l.entry, nil)
		if err != nil {
			t.Fatalf("replay: %v", err)
		}
		if tail == full {
			continue
		}
		if same, err := tail.Apply(l.index, l.entry, nil); err != nil || fmt.Sprint(same) != fmt.Sprint(results) {
			t.Fatalf("after a restore the entry gave\n%+v, %v; before\n%+v", same, err, results)
		}
	}
	for _, s := range []*State{full, tail} {
		if cut < len(w.log) && !bytes.Equal(snapshotBytes(t, s), want) || s == full && s.Checksum() != w.state.Checksum() {
			t.Fatalf("the same log gave another state")
		}
	}
}

// keep takes a snapshot and doesn't write it yet.
func (w *world) keep(t *rapid.T) {
	if len(w.kept) < 4 {
		w.kept = append(w.kept, kept{w.state.Snapshot(), snapshotBytes(t, w.state), w.model.end(w.model.base, w.model.id)})
	}
}

// checkKept writes a snapshot that was taken some entries ago.
func (w *world) checkKept(t *rapid.T) {
	if len(w.kept) == 0 {
		t.Skip("no snapshot is kept")
	}
	k := w.kept[0]
	w.kept = w.kept[1:]
	var written bytes.Buffer
	if _, err := k.snapshot.WriteTo(&written); err != nil || !bytes.Equal(written.Bytes(), k.bytes) {
		t.Fatalf("the snapshot is not what the state was when it was taken: %v", err)
	}
	k.snapshot.Release()
}

// restore goes on with a restored state.
func (w *world) restore(t *rapid.T) {
	restored, err := Restore(bytes.NewReader(snapshotBytes(t, w.state)))
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	w.state = restored
}

// end goes on as a new cluster, restored from the newest or an older state.
func (w *world) end(t *rapid.T) {
	if w.ends == 3 {
		t.Skip("restored often enough")
	}
	from, old := w.state, w.model
	if len(w.kept) > 0 && rapid.Bool().Draw(t, "older") {
		w.forgot = map[string]uint64{}
		var err error
		if from, err = Restore(bytes.NewReader(w.kept[0].bytes)); err != nil {
			t.Fatalf("restore: %v", err)
		}
		old = w.kept[0].model
	}
	highest := from.highestEpoch()
	if _, err := from.Ended(highest, "cx", 0); err == nil {
		t.Fatalf("base %d does not exceed it, and was taken", highest)
	}
	for _, epoch := range w.epochs {
		highest = max(highest, epoch)
	}
	w.ends++
	base, id := highest+rapid.Uint64Range(1, 10).Draw(t, "above"), fmt.Sprintf("c%d", w.ends)
	ended, err := from.Ended(base, id, largestDrawn)
	if err != nil {
		t.Fatalf("end: %v", err)
	}
	w.state, w.model, w.index = ended, old.end(base, id), 0
	w.start, w.log = snapshotBytes(t, ended), nil
}
