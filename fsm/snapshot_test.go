package fsm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// TestSnapshotGoldenBytes pins the format: what nodes have on their disks must
// stay readable.
func TestSnapshotGoldenBytes(t *testing.T) {
	golden(t, "snapshot-v1", snapshotBytes(t, newBusyState(t)))
	golden(t, "snapshot-empty-v1", snapshotBytes(t, New()))
}

// TestRestoreGivesWhatWas restores a state with every part in use, byte by
// byte, and goes on with both.
func TestRestoreGivesWhatWas(t *testing.T) {
	s := newBusyState(t)
	restored, err := Restore(iotest.OneByteReader(bytes.NewReader(snapshotBytes(t, s))), WithSeed(3, 4))
	if err != nil {
		t.Fatal(err)
	}
	audit(t, restored)
	if restored.Index() != s.Index() || restored.Checksum() != s.Checksum() {
		t.Errorf("index %d, checksum %x; want %d, %x", restored.Index(), restored.Checksum(), s.Index(), s.Checksum())
	}
	if number, window := restored.MarkerWindow(); number != 1<<40 || window != time.Minute {
		t.Errorf("marker %d with window %v", number, window)
	}
	commands := []Command{
		{Kind: Renew, Key: "tenant-1", Owner: "r3/ef56", Epoch: 1<<40 + 1, TTL: time.Minute},
		{Kind: Acquire, Key: "tenant-2", Owner: "r2/cd34", RequestID: "q2", TTL: time.Second},
		{Kind: Acquire, Key: "new", Owner: "r2/cd34", RequestID: "q2", TTL: time.Second},
	}
	got, want := mustApply(t, restored, 99, commands), mustApply(t, s, 99, commands)
	if fmt.Sprint(got) != fmt.Sprint(want) || restored.Checksum() != s.Checksum() {
		t.Errorf("after a restore\n%+v\nwithout\n%+v", got, want)
	}
}

// TestSnapshotWhileApplying writes snapshots on other goroutines while the
// state goes on: each is what the state was when it was taken.
func TestSnapshotWhileApplying(t *testing.T) {
	s := New()
	mustApply(t, s, 1, []Command{{Kind: Cluster, Settings: Settings{ClusterID: "c", LargestTTL: time.Hour}}})
	type outcome struct {
		round int
		want  uint64
		bytes []byte
		err   error
	}
	outcomes := make(chan outcome)
	const rounds = 20
	for round := range rounds {
		var commands []Command
		for i := range 700 {
			key, owner := fmt.Sprintf("tenant-%d", i), fmt.Sprintf("owner-%d", i%7+round)
			commands = append(commands,
				Command{Kind: Acquire, Key: key, Owner: owner, RequestID: strings.Repeat("r", round%5+1), TTL: time.Second},
				Command{Kind: Renew, Key: key, Owner: owner, Epoch: uint64(round + 1), TTL: 2 * time.Second})
			if i%3 == 0 {
				commands = append(commands, Command{Kind: Forget, Key: key, Owner: owner, Epoch: uint64(round + 1)})
			}
			commands = append(commands, Command{Kind: Release, Key: key, Owner: owner, Epoch: uint64(round + 1)})
		}
		mustApply(t, s, uint64(round+2), commands)
		sn, want := s.Snapshot(), s.Checksum()
		go func() {
			var buffer bytes.Buffer
			_, err := sn.WriteTo(&buffer)
			sn.Release()
			outcomes <- outcome{round, want, buffer.Bytes(), err}
		}()
	}
	for range rounds {
		o := <-outcomes
		restored, err := Restore(bytes.NewReader(o.bytes))
		if o.err != nil || err != nil {
			t.Fatalf("round %d: %v, %v", o.round, o.err, err)
		}
		if restored.Checksum() != o.want || restored.Index() != uint64(o.round+2) {
			t.Fatalf("round %d: checksum %x at index %d, want %x", o.round, restored.Checksum(), restored.Index(), o.want)
		}
	}
	audit(t, s)
}

// TestRestoreFindsFlippedBits flips each bit of a snapshot.
func TestRestoreFindsFlippedBits(t *testing.T) {
	snapshot := snapshotBytes(t, newBusyState(t))
	for bit := range len(snapshot) * 8 {
		snapshot[bit/8] ^= 1 << (bit % 8)
		if s, err := Restore(bytes.NewReader(snapshot)); err == nil || s != nil {
			t.Fatalf("bit %d was not missed", bit)
		}
		snapshot[bit/8] ^= 1 << (bit % 8)
	}
}

// TestRestoreFindsWhatIsMissing cuts a snapshot off at each byte, and goes on
// behind its end.
func TestRestoreFindsWhatIsMissing(t *testing.T) {
	snapshot := snapshotBytes(t, newBusyState(t))
	for n := range snapshot {
		if _, err := Restore(bytes.NewReader(snapshot[:n])); !errors.Is(err, ErrMalformed) {
			t.Fatalf("cut off after %d bytes: %v", n, err)
		}
	}
	if _, err := Restore(bytes.NewReader(append(snapshot, 0))); !errors.Is(err, ErrMalformed) {
		t.Fatalf("with a byte too many: %v", err)
	}
	broken := errors.New("the disk is broken")
	reader := io.MultiReader(bytes.NewReader(snapshot[:40]), iotest.ErrReader(broken))
	if _, err := Restore(reader); !errors.Is(err, broken) {
		t.Fatalf("read error: %v", err)
	}
}

// TestRestoreRefuses has snapshots with the right checksum of bytes, each with
// one thing wrong.
func TestRestoreRefuses(t *testing.T) {
	founded := globals{clusterID: "c1", largest: time.Hour, index: 9, serials: 5, floor: 1}
	record := "\x01\x01k\x02\x01\x00\x01o\x01r\x03\x01\xe8\x07"
	for _, c := range []struct {
		what    string
		globals globals
		records string
		want    string
	}{
		{"no cluster that has granted", globals{serials: 1}, "", "without an id"},
		{"a record of no cluster", globals{}, "\x01\x01k\x02\x01\x00\x01o\x01r\x03\x00", "tenure 3 of 0"},
		{"a cluster id too long", globals{clusterID: strings.Repeat("c", 65), largest: time.Hour}, "", "at most 64"},
		{"a bad cluster id", globals{clusterID: "\n", largest: time.Hour}, "", "cluster id"},
		{"no largest ttl", globals{clusterID: "c"}, "", "largest ttl"},
		{"a largest ttl too large", globals{clusterID: "c", largest: 25 * time.Hour}, "", "at most 24h"},
		{"a floor too high", globals{clusterID: "c", largest: time.Hour, floor: 1 << 63}, "", "floor"},
		{"a marker of no restore", globals{clusterID: "c", largest: time.Hour, marked: true}, "", "epoch base 0"},
		{"a window of no restore", globals{clusterID: "c", largest: time.Hour, window: time.Hour}, "", "epoch base 0"},
		{"a tenure beside the marker", globals{clusterID: "c1", largest: time.Hour, index: 9, serials: 5, base: 1, marked: true}, record, "beside the restore marker"},
		{"a slot too high", founded, "\x81\x80\x80\x20\x01k", "slot"},
		{"an empty key", founded, "\x01\x00\x02\x01\x00\x01o\x01r\x03\x01\xe8\x07", "invalid key"},
		{"a key too long", founded, "\x01\x81\x04", "at most 512"},
		{"epoch 0", founded, "\x01\x01k\x00\x00\x00\x01o\x01r\x03\x01\xe8\x07", "invalid epoch"},
		{"forgotten above its epoch", founded, "\x01\x01k\x02\x03\x00\x01o\x01r\x03\x01\xe8\x07", "forgotten epoch"},
		{"an owner to come", founded, "\x01\x01k\x02\x01\x01\x01o\x01r\x03\x01\xe8\x07", "owner 1 of 0"},
		{"an owner twice", founded, record + "\x01\x01l\x02\x01\x01\x01o\x01r\x03\x01\xe8\x07", "listed twice"},
		{"a bad owner", founded, "\x01\x01k\x02\x01\x00\x01\n\x01r\x03\x01\xe8\x07", "invalid owner"},
		{"a bad request id", founded, "\x01\x01k\x02\x01\x00\x01o\x01\n\x03\x01\xe8\x07", "invalid request_id"},
		{"tenure 0", founded, "\x01\x01k\x02\x01\x00\x01o\x01r\x00\x01\xe8\x07", "tenure 0 of 5"},
		{"a tenure to come", founded, "\x01\x01k\x02\x01\x00\x01o\x01r\x06\x01\xe8\x07", "tenure 6 of 5"},
		{"a grant before entry 0", founded, "\x01\x01k\x02\x01\x00\x01o\x01r\x03\x0b\xe8\x07", "grant index"},
		{"a grant at entry 0", founded, "\x01\x01k\x02\x01\x00\x01o\x01r\x03\x0a\xe8\x07", "grant index 0"},
		{"a ttl of 0", founded, "\x01\x01k\x02\x01\x00\x01o\x01r\x03\x01\x00", "ttl 0s"},
		{"a ttl too small", founded, "\x01\x01k\x02\x01\x00\x01o\x01r\x03\x01\x63", "at least 100ms"},
		{"a ttl too large", founded, "\x01\x01k\x02\x01\x00\x01o\x01r\x03\x01\x81\xdd\xdb\x01", "at most 1h0m0s"},
		{"a key twice", founded, record + "\x01\x01k\x02\x01\x00\x01r\x03\x01\xe8\x07", "second record"},
	} {
		out := append(c.globals.appendGlobals(nil), c.records...)
		out = append(out, make([]byte, 9)...)
		out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
		if _, err := Restore(bytes.NewReader(out)); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	fine := append(founded.appendGlobals(nil), record...)
	if _, err := Restore(bytes.NewReader(resealed(append(fine, make([]byte, 13)...)))); err != nil {
		t.Errorf("the record that those differ from is fine: %v", err)
	}
}

// TestRestoreTellsVersionsAndStatesApart: the checksum of the state is not that
// of the file.
func TestRestoreTellsVersionsAndStatesApart(t *testing.T) {
	snapshot := snapshotBytes(t, newBusyState(t))
	for what, c := range map[string]struct {
		at   int
		want error
	}{"no snapshot": {0, ErrChecksum}, "a version to come": {len(magic), ErrUnknown}, "another state": {len(snapshot) - 8, ErrChecksum}} {
		changed := bytes.Clone(snapshot)
		changed[c.at]++
		body := changed[:len(changed)-4]
		changed = binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
		if _, err := Restore(bytes.NewReader(changed)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
}

// TestSnapshotWriteErrors: a full disk is told, and nothing is written behind
// its back.
func TestSnapshotWriteErrors(t *testing.T) {
	sn := newBusyState(t).Snapshot()
	full := errors.New("no space left")
	w := &failingWriter{err: full}
	if n, err := sn.WriteTo(w); !errors.Is(err, full) || n != 0 || w.calls != 1 {
		t.Errorf("%d bytes in %d calls, %v", n, w.calls, err)
	}
	var again bytes.Buffer
	if _, err := sn.WriteTo(&again); err != nil {
		t.Errorf("the second try: %v", err)
	}
	sn.Release()
	if _, err := sn.WriteTo(&again); err == nil {
		t.Errorf("a released snapshot was written")
	}
}

type failingWriter struct {
	calls int
	err   error
}

func (w *failingWriter) Write([]byte) (int, error) {
	w.calls++
	return 0, w.err
}

// resealed returns a snapshot with both checksums made right, as far as it can
// be read.
func resealed(snapshot []byte) []byte {
	if len(snapshot) < 12 {
		return snapshot
	}
	out := bytes.Clone(snapshot)
	body := out[:len(out)-12]
	in := &restoring{source: newSource(bytes.NewReader(out)), state: New()}
	_ = in.readAll() // it fails at the checksums at the latest
	body = binary.LittleEndian.AppendUint64(body, in.state.Checksum())
	return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
}
