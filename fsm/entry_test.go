package fsm

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// everyForm is a command of each form, and some that share runs.
var everyForm = []Command{
	{Kind: Cluster, Settings: Settings{ClusterID: "c1", LargestTTL: time.Hour}},
	{Kind: Cluster, Settings: Settings{ClearMarker: 1 << 50, ResumeFloor: true}},
	{Kind: Acquire, Key: "tenant-1", Owner: "r1/ab12", RequestID: "q1", TTL: 10 * time.Second},
	{Kind: Acquire, Key: "tenant-2", Owner: "r1/ab12", RequestID: "q2", TTL: 10 * time.Second},
	{Kind: Acquire, Key: "tenant-3", Owner: "r1/ab12", RequestID: "q3", TTL: 15 * time.Second},
	{Kind: Acquire, Key: "tenant-4", Owner: "r0/cd34", RequestID: "q4", TTL: 15 * time.Second, Evidence: Evidence{Epoch: 3, GrantIndex: 1000}},
	{Kind: Acquire, Key: "tenant-5", Owner: "r0/cd34", RequestID: "q5", TTL: 15 * time.Second, Evidence: Evidence{Epoch: 7, GrantIndex: 998}},
	{Kind: Acquire, Key: "tenant-6", Owner: "r0/cd34", RequestID: "q6", TTL: 15 * time.Second, Evidence: Evidence{Marker: 1 << 50}},
	{Kind: Renew, Key: "tenant-1", Owner: "r1/ab12", Epoch: 5, TTL: 10 * time.Second},
	{Kind: Renew, Number: Number{Slot: 3, Serial: 9}, TTL: 10 * time.Second},
	{Kind: Renew, Number: Number{Slot: 4, Serial: 10}, TTL: 10 * time.Second},
	{Kind: Renew, Number: Number{Slot: 5, Serial: 11}, TTL: 10 * time.Second},
	{Kind: Renew, Number: Number{Slot: 1, Serial: 70}, TTL: 10 * time.Second},
	{Kind: Release, Key: "tenant-1", Owner: "r1/ab12", Epoch: 5},
	{Kind: Release, Key: "tenant-2", Owner: "r1/ab12", RequestID: "q2"},
	{Kind: Release, Number: Number{Slot: 1, Serial: 70}},
	{Kind: Forget, Key: "tenant-3", Owner: "r2/ef56", Epoch: 1},
	{Kind: Forget, Number: Number{Slot: math.MaxUint32, Serial: math.MaxUint64}},
}

// TestEntryGoldenBytes pins the format: what old logs hold must stay readable.
func TestEntryGoldenBytes(t *testing.T) {
	entry, err := AppendEntry(nil, everyForm)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "entry-v1", entry)
	if got, err := DecodeEntry(entry); err != nil || !reflect.DeepEqual(got, everyForm) {
		t.Fatalf("decoded %+v, %v", got, err)
	}
}

// TestEntryRoundTrip encodes any commands and gets them back, whatever else is
// in the buffer.
func TestEntryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		commands := rapid.SliceOfN(rapid.Custom(drawAny), 0, 30).Draw(t, "commands")
		entry, err := AppendEntry([]byte("before"), commands)
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		entry = entry[len("before"):]
		if err := CheckEntry(entry); err != nil {
			t.Fatalf("check: %v", err)
		}
		got, err := DecodeEntry(entry)
		if err != nil || len(got) != len(commands) || len(got) > 0 && !reflect.DeepEqual(got, commands) {
			t.Fatalf("decoded %+v, %v\nwant %+v", got, err, commands)
		}
	})
}

// drawAny draws a command without regard to whether it makes sense, in the only
// way in which it can be written.
func drawAny(t *rapid.T) Command {
	text := rapid.SampledFrom([]string{"", "a", "b", "tenant-1", strings.Repeat("long", 200), "\xff\n"})
	number := rapid.SampledFrom([]uint64{0, 1, 2, 127, 128, 1 << 32, math.MaxInt64, math.MaxUint64})
	c := Command{Kind: rapid.SampledFrom([]Kind{Acquire, Renew, Release, Forget, Cluster}).Draw(t, "kind")}
	if c.Kind == Cluster {
		c.Settings = Settings{ClusterID: text.Draw(t, "id"), LargestTTL: drawTTL(t), ClearMarker: number.Draw(t, "marker"), ResumeFloor: rapid.Bool().Draw(t, "resume")}
		return c
	}
	if c.Kind == Acquire || c.Kind == Renew {
		c.TTL = drawTTL(t)
	}
	if c.Kind != Acquire && rapid.Bool().Draw(t, "by number") {
		c.Number = Number{Slot: rapid.SampledFrom([]uint32{0, 1, 2, 3, 4, math.MaxUint32 - 1, math.MaxUint32}).Draw(t, "slot"), Serial: max(1, number.Draw(t, "serial"))}
		return c
	}
	c.Key, c.Owner = text.Draw(t, "key"), text.Draw(t, "owner")
	switch {
	case c.Kind == Acquire:
		c.RequestID = text.Draw(t, "request")
		c.Evidence = rapid.SampledFrom([]Evidence{{}, {Epoch: 1, GrantIndex: 9}, {GrantIndex: math.MaxUint64}, {Marker: 1}, {Marker: 2}}).Draw(t, "evidence")
	case c.Kind == Release && rapid.Bool().Draw(t, "by id"):
		c.RequestID = text.Draw(t, "request")
	default:
		c.Epoch = number.Draw(t, "epoch")
	}
	return c
}

// TestEntryIsCompact: what a large fleet sends most costs a few bytes each.
func TestEntryIsCompact(t *testing.T) {
	var neighbours, scattered []Command
	for i := range 10_000 {
		c := Command{Kind: Renew, TTL: 10 * time.Second, Number: Number{Slot: uint32(i), Serial: uint64(i + 1)}}
		neighbours = append(neighbours, c)
		c.Number.Serial += uint64(i % 2 * 1000)
		c.Number.Slot *= 3
		scattered = append(scattered, c)
	}
	for name, c := range map[string]struct {
		commands []Command
		most     int
	}{"neighbours": {neighbours, 20}, "scattered": {scattered, 30_020}} {
		entry, err := AppendEntry(nil, c.commands)
		if err != nil || len(entry) > c.most {
			t.Errorf("%s: %d bytes, want at most %d: %v", name, len(entry), c.most, err)
		}
	}
}

// TestFieldsThatDoNotCount: commands that mean the same are written alike.
func TestFieldsThatDoNotCount(t *testing.T) {
	noise := Command{Key: "k", Owner: "o", RequestID: "r", Epoch: 3, TTL: time.Second, Evidence: Evidence{Marker: 1}, Number: Number{1, 1}, Settings: Settings{ClearMarker: 1}}
	for _, c := range []struct{ plain, noisy Command }{
		{Command{Kind: Renew, Number: noise.Number, TTL: noise.TTL}, noise},
		{Command{Kind: Release, Number: noise.Number}, noise},
		{Command{Kind: Forget, Number: noise.Number}, noise},
		{Command{Kind: Cluster, Settings: noise.Settings}, noise},
		{Command{Kind: Acquire, Key: "k", Owner: "o", RequestID: "r", TTL: time.Second, Evidence: noise.Evidence}, noise},
		{Command{Kind: Release, Key: "k", Owner: "o", Epoch: 3}, Command{Key: "k", Owner: "o", Epoch: 3, RequestID: "r", TTL: time.Second}},
	} {
		c.noisy.Kind = c.plain.Kind
		plain, err1 := AppendEntry(nil, []Command{c.plain})
		noisy, err2 := AppendEntry(nil, []Command{c.noisy})
		if err1 != nil || err2 != nil || string(plain) != string(noisy) {
			t.Errorf("%+v: %x, %v; with other fields %x, %v", c.plain, plain, err1, noisy, err2)
		}
	}
}

func TestAppendEntryRefuses(t *testing.T) {
	for name, commands := range map[string][]Command{
		"no kind":                 {{}},
		"an unknown kind":         {{Kind: Cluster + 1}},
		"a negative ttl":          {{Kind: Renew, TTL: -time.Second}},
		"microseconds":            {{Kind: Acquire, TTL: time.Microsecond}},
		"microseconds at most":    {{Kind: Cluster, Settings: Settings{LargestTTL: time.Microsecond}}},
		"evidence of two kinds":   {{Kind: Acquire, Evidence: Evidence{GrantIndex: 1, Marker: 1}}},
		"a number without serial": {{Kind: Forget, Number: Number{Slot: 1}}},
		"the second command":      {{Kind: Cluster}, {}},
		"too many":                make([]Command, MaxCommands+1),
	} {
		if got, err := AppendEntry([]byte("before"), commands); err == nil || string(got) != "before" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	most := make([]Command, MaxCommands)
	for i := range most {
		most[i] = Command{Kind: Forget, Number: Number{Slot: uint32(i), Serial: 1}}
	}
	entry, err := AppendEntry(nil, most)
	if got, err2 := DecodeEntry(entry); err != nil || err2 != nil || len(got) != MaxCommands {
		t.Errorf("the most commands: %v, %v", err, err2)
	}
}

// sealed returns the entry with this body.
func sealed(body ...byte) []byte {
	return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, castagnoli))
}

// TestDecodeEntryRefuses has, for each rule of the format, the bytes that break
// just this one.
func TestDecodeEntryRefuses(t *testing.T) {
	text := func(body string) []byte { return sealed([]byte(body)...) }
	for _, c := range []struct {
		what  string
		entry []byte
		want  error
	}{
		{"nothing", nil, ErrChecksum},
		{"only a checksum", sealed(), ErrChecksum},
		{"another checksum", []byte{1, 0, 0, 0, 0, 0}, ErrChecksum},
		{"another version", text("\x02\x00"), ErrUnknown},
		{"no owners", text("\x01"), ErrMalformed},
		{"owners cut off", text("\x01\x02\x01a"), ErrMalformed},
		{"owners out of order", text("\x01\x02\x01b\x01a" + "\x09\x02\x00\x01k\x01\x01k\x01" + "\x09\x01\x01\x01k\x01"), ErrMalformed},
		{"an owner twice", text("\x01\x02\x01a\x01a" + "\x09\x01\x00\x01k\x01" + "\x09\x01\x01\x01k\x01"), ErrMalformed},
		{"an owner for nothing", text("\x01\x01\x01a"), ErrMalformed},
		{"an owner that is not listed", text("\x01\x01\x01a" + "\x09\x01\x01\x01k\x01"), ErrMalformed},
		{"form 0", text("\x01\x00\x00\x01"), ErrUnknown},
		{"a form to come", text("\x01\x00\x0c\x01"), ErrUnknown},
		{"an empty run", text("\x01\x00\x08\x00"), ErrMalformed},
		{"a run cut off", text("\x01\x00\x08\x02\x00\x02"), ErrMalformed},
		{"a run in two parts", text("\x01\x00\x08\x01\x00\x02\x08\x01\x00\x04"), ErrMalformed},
		{"too many commands", text("\x01\x00\x08\x81\x80\x04"), ErrMalformed},
		{"a longer varint than need be", text("\x01\x80\x00"), ErrMalformed},
		{"a varint of 65 bits", text("\x01\x00\x08\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), ErrMalformed},
		{"a text too long", text("\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a"), ErrMalformed},
		{"a ttl that overflows", text("\x01\x00\x05\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x02"), ErrMalformed},
		{"evidence of no marker", text("\x01\x01\x01a\x03\x01\x00\x64\x00\x01k\x01r"), ErrMalformed},
		{"evidence of nothing", text("\x01\x01\x01a\x02\x01\x00\x64\x01k\x01r\x00\x00"), ErrMalformed},
		{"a release that names nothing", text("\x01\x01\x01a\x07\x01\x00\x01k\x00"), ErrMalformed},
		{"a number without serial", text("\x01\x00\x08\x01\x00\x00"), ErrMalformed},
		{"a slot below 0", text("\x01\x00\x08\x01\x02\x02"), ErrMalformed},
		{"a stretch beyond its run", text("\x01\x00\x08\x02\x01\x02\x01"), ErrMalformed},
		{"a stretch in two parts", text("\x01\x00\x08\x02\x00\x02\x04\x02"), ErrMalformed},
		{"a stretch beyond the last slot", text("\x01\x00\x08\x02\xfd\xff\xff\xff\x3f\x02\x00"), ErrMalformed},
		{"a flag of 2", text("\x01\x00\x0b\x01\x00\x00\x00\x02"), ErrMalformed},
	} {
		if got, err := DecodeEntry(c.entry); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v; want %v", c.what, got, err, c.want)
		}
		s := newBusyState(t)
		before := snapshotBytes(t, s)
		if results, err := s.Apply(s.Index()+1, c.entry, nil); !errors.Is(err, c.want) || len(results) != 0 {
			t.Errorf("%s: applied as %+v, %v", c.what, results, err)
		}
		if string(snapshotBytes(t, s)) != string(before) {
			t.Errorf("%s: the state has changed", c.what)
		}
	}
	for _, entry := range [][]byte{text("\x01\x00\x08\x02\x00\x02\x04\x04"), text("\x01\x00\x08\x02\x01\x02\x00")} {
		if _, err := DecodeEntry(entry); err != nil {
			t.Errorf("the neighbours of those are fine: %v", err)
		}
	}
}

// TestCheckEntryFindsFlippedBits flips each bit of an entry.
func TestCheckEntryFindsFlippedBits(t *testing.T) {
	entry, err := AppendEntry(nil, everyForm)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(entry) * 8 {
		entry[bit/8] ^= 1 << (bit % 8)
		if err := CheckEntry(entry); !errors.Is(err, ErrChecksum) {
			t.Fatalf("bit %d: %v", bit, err)
		}
		entry[bit/8] ^= 1 << (bit % 8)
	}
}

// newBusyState returns a state in which every part is in use.
func newBusyState(t failer) *State {
	t.Helper()
	s := New()
	for i, commands := range [][]Command{
		{{Kind: Cluster, Settings: Settings{ClusterID: "c0", LargestTTL: time.Hour}}},
		{
			{Kind: Acquire, Key: "tenant-1", Owner: "r1/ab12", RequestID: "q1", TTL: 10 * time.Second},
			{Kind: Acquire, Key: "tenant-2", Owner: "r2/cd34", RequestID: "q2", TTL: 20 * time.Second},
			{Kind: Acquire, Key: "a key that is too long for its row", Owner: "r1/ab12", RequestID: "q3", TTL: time.Second},
			{Kind: Acquire, Key: "one-off", Owner: "r1/ab12", RequestID: "q4", TTL: time.Second},
			{Kind: Forget, Key: "one-off", Owner: "r1/ab12", Epoch: 1},
			{Kind: Release, Key: "one-off", Owner: "r1/ab12", Epoch: 1},
			{Kind: Release, Key: "tenant-2", Owner: "r2/cd34", Epoch: 1},
		},
	} {
		mustApply(t, s, uint64(10*i+10), commands)
	}
	ended, err := s.Ended(1<<40, "c1", time.Minute)
	if err != nil {
		t.Fatalf("end: %v", err)
	}
	mustApply(t, ended, 7, []Command{
		{Kind: Cluster, Settings: Settings{ClearMarker: 1 << 40}},
		{Kind: Acquire, Key: "tenant-1", Owner: "r3/ef56", RequestID: "q5", TTL: 10 * time.Second},
		{Kind: Acquire, Key: "tenant-3", Owner: "r3/ef56", RequestID: "q6", TTL: 10 * time.Second},
		{Kind: Forget, Key: "tenant-3", Owner: "r3/ef56", Epoch: 1<<40 + 1},
	})
	return ended
}

func mustApply(t failer, s *State, index uint64, commands []Command) []Result {
	t.Helper()
	entry, err := AppendEntry(nil, commands)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	results, err := s.Apply(index, entry, nil)
	if err != nil {
		t.Fatalf("apply: %v", err)
	}
	return results
}
