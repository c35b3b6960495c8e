package fsm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestViolatedInvariantsStopTheState breaks a state from the inside: it says so
// and applies nothing any more.
func TestViolatedInvariantsStopTheState(t *testing.T) {
	s := newBusyState(t)
	slot, _ := s.find([]byte("tenant-3"))
	s.row(slot).forgotten = 1 << 50
	forget, err := AppendEntry(nil, []Command{{Kind: Forget, Key: "tenant-3", Owner: "r3/ef56", Epoch: 1<<40 + 1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Apply(20, forget, nil); !errors.Is(err, ErrInvariant) {
		t.Fatalf("a forgotten epoch above the tenure's: %v", err)
	}
	nothing, _ := AppendEntry(nil, nil)
	if _, again := s.Apply(21, nothing, nil); again != err {
		t.Fatalf("after that: %v", again)
	}
}

// TestRecordsAreLimited: the last record is granted, one more is invalid, and
// what has a record goes on.
func TestRecordsAreLimited(t *testing.T) {
	s := newBusyState(t)
	slots := s.records
	s.records = MaxRecords - 1 // as if there were so many
	got := mustApply(t, s, 20, []Command{
		{Kind: Acquire, Key: "last", Owner: "o", RequestID: "r", TTL: time.Second},
		{Kind: Acquire, Key: "more", Owner: "o", RequestID: "r", TTL: time.Second},
		{Kind: Acquire, Key: "tenant-2", Owner: "o", RequestID: "r", TTL: time.Second},
	})
	if got[0].Code != Granted || got[1].Code != Invalid || !strings.Contains(got[1].Reason, "67108864") || got[2].Code != Granted {
		t.Errorf("%+v", got)
	}
	s.records = slots + 1
	audit(t, s)
}

// TestNothingIsAllocated where the node is busiest.
func TestNothingIsAllocated(t *testing.T) {
	s := newBusyState(t)
	l := s.Lookup("tenant-1")
	var renewals []Command
	for range 100 {
		renewals = append(renewals, Command{Kind: Renew, Number: l.Number, TTL: time.Second},
			Command{Kind: Renew, Key: "tenant-1", Owner: l.Record.Owner, Epoch: l.Record.Epoch, TTL: time.Second})
	}
	entry, err := AppendEntry(nil, renewals)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long", 100)
	results := make([]Result, 0, len(renewals))
	index := s.Index()
	for what, f := range map[string]func(){
		"look up a key":          func() { s.Lookup("tenant-1") },
		"look up an unknown key": func() { s.Lookup(long) },
		"translate":              func() { numberFor(s, "tenant-1", l.Record.Owner, l.Record.Epoch) },
		"ask for a request":      func() { s.IsRequest("tenant-1", l.Record.Owner, "q5") },
		"check an entry":         func() { _ = CheckEntry(entry) },
		"checksum":               func() { s.Checksum() },
		"apply a batch of renewals": func() {
			index++
			if got, err := s.Apply(index, entry, results); err != nil || got[len(got)-1].Code != Renewed {
				t.Fatalf("%+v, %v", got, err)
			}
		},
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("to %s allocates %v times", what, n)
		}
	}
}

// TestListIsSorted pages through random records by prefix and owner, and
// compares with all of them sorted.
func TestListIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New()
		mustApply(t, s, 1, []Command{{Kind: Cluster, Settings: Settings{ClusterID: "c", LargestTTL: time.Hour}}})
		var commands []Command
		for i, key := range rapid.SliceOfDistinct(rapid.StringMatching(`[ab]{1,2}[a-zü]{0,2}`), rapid.ID).Draw(t, "keys") {
			owner := fmt.Sprintf("o%d", i%3)
			commands = append(commands, Command{Kind: Acquire, Key: key, Owner: owner, RequestID: "r", TTL: time.Second})
			if i%4 == 0 {
				commands = append(commands, Command{Kind: Release, Key: key, Owner: owner, Epoch: 1})
			}
		}
		mustApply(t, s, 2, commands)
		prefix := rapid.SampledFrom([]string{"", "a", "ab", "c"}).Draw(t, "prefix")
		owner := rapid.SampledFrom([]string{"", "o0", "o1", "nobody"}).Draw(t, "owner")
		limit := rapid.IntRange(1, 7).Draw(t, "limit")
		var want []string
		s.Each(func(l Lookup) bool {
			if strings.HasPrefix(l.Record.Key, prefix) && (owner == "" || l.Record.Held && l.Record.Owner == owner) {
				want = append(want, l.Record.Key)
			}
			return true
		})
		slices.Sort(want)
		var got []string
		for cursor := ""; ; {
			page, next := s.List(prefix, owner, cursor, limit)
			for _, l := range page {
				if l != s.Lookup(l.Record.Key) {
					t.Fatalf("listed %+v, stands %+v", l, s.Lookup(l.Record.Key))
				}
				got = append(got, l.Record.Key)
			}
			if cursor = next; next == "" {
				break
			}
			if len(page) != limit {
				t.Fatalf("%d records on a page of %d that is not the last", len(page), limit)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
	s := newBusyState(t)
	if page, next := s.List("", "", "", 0); page != nil || next != "" {
		t.Errorf("a page of no records: %v, %q", page, next)
	}
	seen := 0
	s.Each(func(Lookup) bool { seen++; return false })
	if seen != 1 {
		t.Errorf("Each went on to %d records", seen)
	}
}

// TestTheSameHoldsForEverySeed: nothing replicated depends on where a node's
// indexes keep things.
func TestTheSameHoldsForEverySeed(t *testing.T) {
	var want []byte
	for seed := range uint64(5) {
		s := New(WithSeed(seed, seed*seed))
		mustApply(t, s, 1, []Command{{Kind: Cluster, Settings: Settings{ClusterID: "c", LargestTTL: time.Hour}}})
		for round := range uint64(5) {
			var commands []Command
			for i := range 600 {
				key, owner := fmt.Sprintf("k%d", i), fmt.Sprintf("o%d", i%50)
				commands = append(commands, Command{Kind: Acquire, Key: key, Owner: owner, RequestID: fmt.Sprint(round), TTL: time.Second})
				if i%2 == 0 {
					epoch := s.Lookup(key).Record.Epoch + 1
					commands = append(commands, Command{Kind: Forget, Key: key, Owner: owner, Epoch: epoch}, Command{Kind: Release, Key: key, Owner: owner, Epoch: epoch})
				}
			}
			mustApply(t, s, round+2, commands)
		}
		audit(t, s)
		if got := snapshotBytes(t, s); want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Fatalf("seed %d gave another state", seed)
		}
	}
}
