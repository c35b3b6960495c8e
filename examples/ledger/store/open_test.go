package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/tenure"
)

func TestSuccessorHasTheLedger(t *testing.T) {
	s := New(t.TempDir())
	first := open(t, s, grant{epoch: 1})
	add(t, first, "a")
	add(t, first, "b")
	second := open(t, s, grant{epoch: 5})
	if got := add(t, second, "c"); got != (Entry{Seq: 3, Epoch: 5, ID: "c", Text: "text of c"}) {
		t.Fatalf("appended %+v", got)
	}
	if got := ids(t, second); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Fatalf("the successor has %v", got)
	}
	snapshot, err := s.Latest(t.Context(), testKey)
	if err != nil || snapshot.Epoch != 5 || len(snapshot.Entries) != 3 {
		t.Fatalf("latest: %+v, %v", snapshot, err)
	}
}

func TestOpenRefusesAnEpochThatIsNotNew(t *testing.T) {
	s := New(t.TempDir())
	open(t, s, grant{epoch: 7})
	for epoch, want := range map[uint64]string{6: "sealed by epoch 7", 7: "opened its ledger before"} {
		_, err := s.Open(t.Context(), testKey, grant{epoch: epoch})
		var sealed *SealedError
		if !errors.As(err, &sealed) || !strings.Contains(err.Error(), want) {
			t.Errorf("epoch %d: %v, want %q", epoch, err, want)
		}
	}
	if names := list(t, s); !slices.Equal(names, []string{copyName(7), sealName(7)}) {
		t.Errorf("the refused epochs left %v", names)
	}
}

// The goal: a copy above one's own epoch stops the reader also where its seal
// is gone, and so does one of the same epoch.
func TestOpenRefusesACopyFromAbove(t *testing.T) {
	s := New(t.TempDir())
	add(t, open(t, s, grant{epoch: 7}), "a")
	if err := os.Remove(filepath.Join(s.dir, testKey, sealName(7))); err != nil {
		t.Fatal(err)
	}
	for _, epoch := range []uint64{1, 7} {
		var sealed *SealedError
		if _, err := s.Open(t.Context(), testKey, grant{epoch: epoch}); !errors.As(err, &sealed) || sealed.By != 7 {
			t.Errorf("epoch %d: %v, want it refused for the copy of epoch 7", epoch, err)
		}
	}
}

func TestForgottenCopiesAreDead(t *testing.T) {
	s := New(t.TempDir())
	add(t, open(t, s, grant{epoch: 3}), "a")
	later := open(t, s, grant{epoch: 4, forgotten: 3})
	if got := ids(t, later); len(got) != 0 {
		t.Fatalf("read %v back after the forget", got)
	}
	if e := add(t, later, "a"); e.Seq != 1 || e.Epoch != 4 {
		t.Fatalf("appended %+v, want a new first entry", e)
	}
	if names := list(t, s); !slices.Equal(names, []string{copyName(4), sealName(4)}) {
		t.Fatalf("left %v", names)
	}
}

func TestDamagedCopyStopsTheSuccessor(t *testing.T) {
	s := New(t.TempDir())
	l := open(t, s, grant{epoch: 1})
	add(t, l, "a")
	add(t, l, "b")
	path := filepath.Join(s.dir, testKey, copyName(1))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(data, []byte("text of a"), []byte("text of z"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = s.Open(t.Context(), testKey, grant{epoch: 2})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Line != 2 || !strings.Contains(err.Error(), path) {
		t.Fatalf("got %v, want a CorruptError of line 2 of %s", err, path)
	}
}

func TestOpenRefusesBadInput(t *testing.T) {
	s := New(t.TempDir())
	for _, c := range []struct {
		key   string
		epoch uint64
		field string
	}{{"", 1, "key"}, {"a\nb", 1, "key"}, {"a", 0, "epoch"}, {"a", tenure.MaxEpoch + 1, "epoch"}} {
		_, err := s.Open(t.Context(), c.key, grant{epoch: c.epoch})
		var invalid *tenure.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != c.field {
			t.Errorf("key %q, epoch %d: %v, want %s to be invalid", c.key, c.epoch, err, c.field)
		}
	}
	if entries, err := os.ReadDir(s.dir); err != nil || len(entries) != 0 {
		t.Errorf("refused opens left %v, %v", entries, err)
	}
}

func TestDirNames(t *testing.T) {
	long := strings.Repeat("K", tenure.MaxKeyBytes)
	for key, want := range map[string]string{
		"tenant-42": "tenant-42",
		"a/b":       "a%2Fb",
		"..":        "%2E%2E",
		"Ä":         "%C3%84",
		"A":         "%41",
		"%41":       "%2541",
		long:        "sha256=",
	} {
		if got := dirName(key); !strings.HasPrefix(got, want) || len(got) > 255 || len(want) < len(got) && key != long {
			t.Errorf("dirName(%.20q) = %q, want %q", key, got, want)
		}
	}
	if dirName(long) == dirName(long[1:]) {
		t.Error("two long keys share a directory")
	}
}

func TestOtherFilesStay(t *testing.T) {
	s := New(t.TempDir())
	open(t, s, grant{epoch: 1})
	for _, name := range []string{"README", "copy-1", "seal-x", "copy-00000000000000000001.bak"} {
		if err := os.WriteFile(filepath.Join(s.dir, testKey, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	open(t, s, grant{epoch: 2})
	want := []string{"README", copyName(2), "copy-00000000000000000001.bak", "copy-1", sealName(2), "seal-x"}
	slices.Sort(want)
	if got := list(t, s); !slices.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
}

func list(t *testing.T, s *Store) []string {
	t.Helper()
	names, err := osDisk{}.names(filepath.Join(s.dir, testKey))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}
