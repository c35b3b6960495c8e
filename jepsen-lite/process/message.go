package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/workload"
)

// A setup is the first thing that a child is told.
type setup struct {
	Name  string            `json:"name"`          // a node's or a replica's
	Run   int               `json:"run"`           // which of the host's processes it is, from 1
	Start time.Duration     `json:"start"`         // of the run, on the common clock
	IDs   uint64            `json:"ids"`           // no other process uses the ids above it
	Dir   string            `json:"dir,omitempty"` // of a node's data; a replica has none
	Files string            `json:"files"`         // the folder of files that all replicas share
	Dials map[string]string `json:"dials"`         // the relay of each node's address
	Rate  float64           `json:"rate"`          // at which its clock starts
	Plan  *plan.Plan        `json:"plan"`
}

// An order is what a child is told. One of the fields is set.
type order struct {
	Setup    *setup     `json:"setup,omitempty"`
	Answer   *answer    `json:"answer,omitempty"`   // to a command on the durable copies
	Stops    *stops     `json:"stops,omitempty"`    // where to stop itself, in place of what was told before
	Rate     *rateOrder `json:"rate,omitempty"`     // at which its clock is to run
	Transfer bool       `json:"transfer,omitempty"` // a node is to lead
	Close    bool       `json:"close,omitempty"`    // it is to end in good order
}

type answer struct {
	ID     uint64          `json:"id"`
	Answer workload.Answer `json:"answer"`
}

// Stops are points at which a process stops itself, once at each.
type stops struct {
	Points []workload.Point `json:"points"`
}

// A word is what a child says. One of the fields is set.
type word struct {
	Event   *history.Event `json:"event,omitempty"`
	Command *command       `json:"command,omitempty"` // on the durable copies
	Listens string         `json:"listens,omitempty"` // a node's real address
	Open    bool           `json:"open,omitempty"`    // it works, as far as it gets alone
	Ready   bool           `json:"ready,omitempty"`   // a node is a member of a cluster that works
	Status  *status        `json:"status,omitempty"`  // of a node
	Storing *storing       `json:"storing,omitempty"` // entries that a node is about to store
	Rate    *ratio         `json:"rate,omitempty"`    // at which its clock runs
	StopsAt workload.Point `json:"stopsAt,omitempty"` // it stops itself now
	GoesOn  bool           `json:"goesOn,omitempty"`  // it was told to, after that
	Failed  string         `json:"failed,omitempty"`  // why it can't go on
	Left    *left          `json:"left,omitempty"`    // the last word: everything was closed
}

type command struct {
	ID      uint64           `json:"id"`
	Command workload.Command `json:"command"`
}

// Storing says when a node came to store entries.
type storing struct {
	At      time.Duration `json:"at"` // since the start of the run
	Entries []entryID     `json:"entries"`
}

// An entryID names one entry: no two of one term have the same index.
type entryID struct{ Index, Term uint64 }

// A status is what a node knows of itself.
type status struct {
	Leads  bool   `json:"leads,omitempty"`
	Term   uint64 `json:"term,omitempty"`
	Commit uint64 `json:"commit,omitempty"`
}

// left is how much more there is when everything was closed than before.
type left struct {
	Goroutines  int    `json:"goroutines"`
	Stacks      string `json:"stacks,omitempty"` // of the goroutines
	Descriptors int    `json:"descriptors"`
}

// A speaker writes messages, a line each, in one write: what was written when
// the process is killed is whole.
type speaker struct {
	mu  sync.Mutex
	out io.Writer
}

func (s *speaker) say(message any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sayLocked(message)
}

func (s *speaker) sayLocked(message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = s.out.Write(append(b, '\n'))
	return err
}

// listen calls f with each message until there are no more. One that was torn
// by the end of its writer is left out.
func listen[M any](in io.Reader, f func(M)) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var m M
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("message %q: %w", line, err)
		}
		f(m)
	}
}
