package fsm

import (
	"fmt"
	"testing"
	"time"
)

// numberFor returns the number of the tenure that stands for a key, owner and
// epoch.
func numberFor(s *State, key, owner string, epoch uint64) (Number, bool) {
	var commands [1]Command
	commands[0] = Command{Kind: Renew, Key: key, Owner: owner, Epoch: epoch}
	s.Translate(commands[:])
	return commands[0].Number, commands[0].Number != (Number{})
}

// A batch is translated as its commands would be one by one, in an empty state
// as well.
func TestTranslateBatch(t *testing.T) {
	s := New()
	var commands []Command
	for i := range 3*translateAhead + 7 {
		commands = append(commands, Command{Kind: Acquire, Key: fmt.Sprint("k", i), Owner: fmt.Sprint("o", i%3), RequestID: "1", TTL: time.Second})
	}
	batch := func() []Command {
		renewals := make([]Command, len(commands))
		for i, c := range commands {
			renewals[i] = Command{Kind: Renew + Kind(i%3), Key: c.Key, Owner: c.Owner, Epoch: uint64(i % 2), TTL: time.Second}
		}
		s.Translate(renewals)
		return renewals
	}
	for i, c := range batch() {
		if c.Number != (Number{}) {
			t.Fatalf("command %d has number %v in an empty state", i, c.Number)
		}
	}
	applyAll(t, s, []Command{{Kind: Cluster, Settings: Settings{ClusterID: "c", LargestTTL: time.Hour}}})
	results := applyAll(t, s, commands)
	for i, c := range batch() {
		want := Number{}
		if i%2 == 1 {
			want = results[i].Number
		}
		if c.Number != want {
			t.Errorf("command %d has number %v, want %v", i, c.Number, want)
		}
	}
}

// applyAll applies one entry and returns its results.
func applyAll(t *testing.T, s *State, commands []Command) []Result {
	t.Helper()
	results, err := s.Apply(s.Index()+1, mustEncode(t, commands), nil)
	if err != nil {
		t.Fatal(err)
	}
	return results
}
