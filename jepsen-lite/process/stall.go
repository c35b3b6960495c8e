package process

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure/jepsen-lite/history"
)

// Stall is what a history calls it when the host lets a process wait for its
// turn, or for its disk: a fault that no plan asked for. What happens meanwhile
// has a cause.
const Stall = "stall"

// How often a process looks whether it gets its turn. A look that comes later
// than a stall lasts is the end of one.
const (
	turnEvery = 20 * time.Millisecond
	stalls    = 150 * time.Millisecond
)

// watchTurns writes down each stall of the process. One that is stopped, as a
// plan has it, tells the same of itself.
func (p *participant) watchTurns(ctx context.Context) {
	ticker := time.NewTicker(turnEvery)
	defer ticker.Stop()
	last := p.journal.Now()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		turn := p.journal.Now()
		p.waited(last, "its turn")
		last = turn
	}
}

// waited writes down that the process has waited for something since an
// instant of the run, if that was a stall.
func (p *participant) waited(since time.Duration, what string) {
	until := p.journal.Now()
	if until-since <= stalls {
		return
	}
	id := p.journal.NextID()
	p.journal.Record(history.Event{T: since, Kind: history.Fault, F: Stall, ID: id, Targets: []string{p.setup.Name}, Msg: "for " + what})
	p.journal.Record(history.Event{T: until, Kind: history.Heal, ID: id})
}

// watchDisk is called when a write of entries to the disk begins, which it tells
// the arena, and gives what is called when it is done.
func (p *participant) watchDisk(entries []*raft.Log) (done func()) {
	since := p.journal.Now()
	stored := &storing{At: since}
	for _, entry := range entries {
		stored.Entries = append(stored.Entries, entryID{entry.Index, entry.Term})
	}
	p.say(word{Storing: stored})
	return func() { p.waited(since, "its disk") }
}
