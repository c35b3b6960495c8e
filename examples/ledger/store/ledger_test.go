package store

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.com/tenure"
)

// A grant is a lease as far as the store asks.
type grant struct{ epoch, forgotten uint64 }

func (g grant) Epoch() uint64          { return g.epoch }
func (g grant) Live(epoch uint64) bool { return epoch > g.forgotten && epoch <= g.epoch }

func open(t *testing.T, s *Store, g grant) *Ledger {
	t.Helper()
	l, err := s.Open(t.Context(), testKey, g)
	if err != nil {
		t.Fatalf("open at epoch %d: %v", g.epoch, err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

func add(t *testing.T, l *Ledger, id string) Entry {
	t.Helper()
	e, err := l.Append(t.Context(), id, "text of "+id)
	if err != nil {
		t.Fatalf("append %s: %v", id, err)
	}
	return e
}

func ids(t *testing.T, l *Ledger) []string {
	t.Helper()
	entries, err := l.Entries(t.Context())
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// The goal: a retry, at the same tenure or a later one, is the same entry.
func TestRetryIsTheSameEntry(t *testing.T) {
	s := New(t.TempDir())
	first := open(t, s, grant{epoch: 1})
	e := add(t, first, "a")
	if again := add(t, first, "a"); again != e {
		t.Fatalf("retried: %+v, want %+v", again, e)
	}
	second := open(t, s, grant{epoch: 2})
	if again := add(t, second, "a"); again != e {
		t.Fatalf("retried at the successor: %+v, want %+v", again, e)
	}
	_, err := second.Append(t.Context(), "a", "another text")
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.Seq != 1 {
		t.Fatalf("the same id with another text: %v, want a ConflictError of seq 1", err)
	}
}

func TestSealedWriter(t *testing.T) {
	s := New(t.TempDir())
	first := open(t, s, grant{epoch: 1})
	add(t, first, "a")
	open(t, s, grant{epoch: 2})
	var sealed *SealedError
	if _, err := first.Append(t.Context(), "b", ""); !errors.As(err, &sealed) || sealed.By != 2 {
		t.Errorf("append: %v, want it sealed by epoch 2", err)
	}
	for _, text := range []string{"text of a", "another text"} {
		if _, err := first.Append(t.Context(), "a", text); !errors.As(err, &sealed) {
			t.Errorf("retry with %q: %v, want it sealed", text, err)
		}
	}
	if _, err := first.Entries(t.Context()); !errors.As(err, &sealed) {
		t.Errorf("read: %v, want it sealed", err)
	}
}

func TestAppendRefusesBadInput(t *testing.T) {
	l := open(t, New(t.TempDir()), grant{epoch: 1})
	for _, c := range []struct{ id, text, field string }{
		{"", "x", "id"},
		{strings.Repeat("x", MaxIDBytes+1), "x", "id"},
		{"\xff", "x", "id"},
		{"a", strings.Repeat("x", MaxTextBytes+1), "text"},
		{"a", "\xff", "text"},
	} {
		_, err := l.Append(t.Context(), c.id, c.text)
		var invalid *tenure.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != c.field {
			t.Errorf("id %.10q, text %.10q: %v, want %s to be invalid", c.id, c.text, err, c.field)
		}
	}
	if got := ids(t, l); len(got) != 0 {
		t.Errorf("the ledger has %v", got)
	}
	add(t, l, strings.Repeat("x", MaxIDBytes))
}

func TestClosedLedger(t *testing.T) {
	l := open(t, New(t.TempDir()), grant{epoch: 1})
	add(t, l, "a")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), "b", ""); !errors.Is(err, ErrClosed) {
		t.Errorf("append: %v, want ErrClosed", err)
	}
	if _, err := l.Entries(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("read: %v, want ErrClosed", err)
	}
}

func TestCancelledContext(t *testing.T) {
	s := New(t.TempDir())
	l := open(t, s, grant{epoch: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Append(ctx, "a", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("append: %v", err)
	}
	if _, err := s.Open(ctx, testKey, grant{epoch: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	if _, err := s.Open(t.Context(), testKey, grant{epoch: 3}); err != nil {
		t.Errorf("the tenure after a cancelled open: %v", err)
	}
}
