package store

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// sample is a copy of three published entries and three appended batches.
func sample(t testing.TB) (data []byte, entries []Entry) {
	t.Helper()
	for i := range uint64(3) {
		entries = append(entries, Entry{Seq: i + 1, Epoch: i/2 + 1, ID: string('a' + rune(i)), Text: "published"})
	}
	data, err := encodeCopy(testKey, 7, entries)
	if err != nil {
		t.Fatal(err)
	}
	for i := uint64(3); i < 6; i++ {
		batch := []Entry{{Seq: i + 1, Epoch: 7, ID: string('a' + rune(i)), Text: "appended\nwith a line end, \x00 and \u00e4"}}
		line, err := encodeLine(batch)
		if err != nil {
			t.Fatal(err)
		}
		data, entries = append(data, line...), append(entries, batch...)
	}
	return data, entries
}

func TestDecodeReadsWhatWasEncoded(t *testing.T) {
	data, want := sample(t)
	got, err := decodeCopy(data, testKey, 7)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("decoded %+v, %v; want %+v", got, err, want)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		t.Fatal("a copy holds a zero byte, which marks what was never written")
	}
}

// The goal: a crash in the middle of the last write loses that batch and no
// other, and is never taken for damage.
func TestDecodeTornTail(t *testing.T) {
	data, entries := sample(t)
	start := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
	for end := start; end < len(data); end++ {
		got, err := decodeCopy(data[:end], testKey, 7)
		if err != nil || !slices.Equal(got, entries[:5]) {
			t.Fatalf("cut at %d: decoded %d entries, %v; want 5", end, len(got), err)
		}
		zeroed := slices.Clone(data)
		clear(zeroed[end:min(end+16, len(data))])
		got, err = decodeCopy(zeroed, testKey, 7)
		if err != nil || !slices.Equal(got, entries[:5]) {
			t.Fatalf("zeros at %d: decoded %d entries, %v; want 5", end, len(got), err)
		}
	}
}

// The goal: what was written before the last batch was synced, so that zeros in
// it are damage.
func TestDecodeZerosBeforeTheEnd(t *testing.T) {
	data, _ := sample(t)
	start := bytes.LastIndexByte(data[:len(data)-1], '\n') - 10
	clear(data[start : start+4])
	var corrupt *CorruptError
	if got, err := decodeCopy(data, testKey, 7); !errors.As(err, &corrupt) {
		t.Fatalf("decoded %+v, %v", got, err)
	}
}

// The goal: a flipped bit anywhere is damage, never a shorter or another ledger:
// what it hit may have been acknowledged.
func TestDecodeFlippedBit(t *testing.T) {
	data, _ := sample(t)
	lineEnd := len(data) - 1 // without it the last line is unfinished
	for i := range lineEnd {
		for bit := range 8 {
			damaged := slices.Clone(data)
			damaged[i] ^= 1 << bit
			if damaged[i] == 0 {
				continue // reads like what never reached the disk
			}
			var corrupt *CorruptError
			if got, err := decodeCopy(damaged, testKey, 7); !errors.As(err, &corrupt) {
				t.Fatalf("bit %d of byte %d flipped: decoded %+v, %v", bit, i, got, err)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	line := func(content any) string {
		l, err := encodeLine(content)
		if err != nil {
			t.Fatal(err)
		}
		return string(l)
	}
	head := func(entries uint64) string {
		return line(header{Format: 1, Key: testKey, Epoch: 7, Entries: entries})
	}
	for name, c := range map[string]struct{ data, want string }{
		"nothing":                 {"", "ends before"},
		"half a header":           {head(0)[:20], "checksum"},
		"no header":               {line([]Entry{{Seq: 1, Epoch: 7, ID: "a"}}), "cannot unmarshal"},
		"another format":          {line(header{Format: 2, Key: testKey, Epoch: 7}), "format 2"},
		"another key":             {line(header{Format: 1, Key: "tenant-2", Epoch: 7}), "copy of \"tenant-2\""},
		"another epoch":           {line(header{Format: 1, Key: testKey, Epoch: 6}), "at epoch 6"},
		"no batch":                {head(0) + line("x"), "cannot unmarshal"},
		"published part missing":  {head(2) + line([]Entry{{Seq: 1, Epoch: 7, ID: "a"}}), "ends before"},
		"published part torn":     {head(1) + line([]Entry{{Seq: 1, Epoch: 7, ID: "a"}})[:30], "checksum"},
		"a gap":                   {head(0) + line([]Entry{{Seq: 2, Epoch: 7, ID: "a"}}), "entry 2 follows entry 0"},
		"an epoch that goes down": {head(2) + line([]Entry{{Seq: 1, Epoch: 5, ID: "a"}, {Seq: 2, Epoch: 4, ID: "b"}}), "follows one of epoch 5"},
		"a higher epoch":          {head(1) + line([]Entry{{Seq: 1, Epoch: 8, ID: "a"}}), "of epoch 8"},
		"epoch 0":                 {head(1) + line([]Entry{{Seq: 1, ID: "a"}}), "of epoch 0"},
		"another's appendix":      {head(0) + line([]Entry{{Seq: 1, Epoch: 6, ID: "a"}}), "was appended at epoch 7"},
		"an id twice":             {head(0) + line([]Entry{{Seq: 1, Epoch: 7, ID: "a"}, {Seq: 2, Epoch: 7, ID: "a"}}), "id \"a\""},
		"damage before the end":   {head(0) + "00000000 []\n" + line([]Entry{{Seq: 1, Epoch: 7, ID: "a"}}), "line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeCopy([]byte(c.data), testKey, 7)
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want a CorruptError with %q", err, c.want)
			}
		})
	}
}

// The goal: no bytes make the decoder panic, what it accepts is a ledger that
// encodes to the same, and a torn tail behind a good copy changes nothing.
func FuzzDecodeCopy(f *testing.F) {
	data, _ := sample(f)
	f.Add(data)
	f.Add(data[:len(data)-5])
	f.Add([]byte("00000000 {}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := decodeCopy(data, testKey, 7)
		if err != nil {
			return
		}
		again, err := encodeCopy(testKey, 7, entries)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeCopy(append(again, "deadbeef [{"...), testKey, 7)
		if err != nil || !slices.Equal(got, entries) {
			t.Fatalf("encoded again: %+v, %v; want %+v", got, err, entries)
		}
	})
}
