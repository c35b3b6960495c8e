package workload

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"example.com/tenure/examples/ledger/store"
	"example.com/tenure/holder"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
)

// ledgers is the durable layer over the files of the example's ledger store:
// each value is an entry. Its steps can't be told apart from here, so that a
// freeze comes before or after a whole write or takeover.
type ledgers struct {
	*copies
	store  *store.Store
	ledger *store.Ledger // nil until it is taken over
}

var errNotOpen = errors.New("the ledger was not taken over")

// keepLedgers makes the process contend for the ledgers. It writes to them
// seldom: each write is synced to a real disk.
func (p *Process) keepLedgers() {
	files := store.New(p.cfg.Folder)
	for _, key := range p.cfg.Plan.KeysOf(plan.Ledger) {
		c := &contender{Process: p, key: key, rng: p.rng(key), pause: 600 * time.Millisecond, work: 15}
		c.layer = func() durable {
			return &ledgers{copies: &copies{p, p.rng("steps of " + key)}, store: files}
		}
		p.work.Go(c.run)
	}
}

// succeed implements durable.
func (g *ledgers) succeed(l *holder.Lease) (from uint64, values history.Set, err error) {
	if err := g.at(Acquired); err != nil {
		return 0, nil, err
	}
	if g.ledger, err = g.store.Open(g.ctx, l.Key(), l); err != nil {
		return 0, nil, err
	}
	values, err = g.read(l)
	return 0, values, err
}

// put implements durable.
func (g *ledgers) put(_ *holder.Lease, value uint64) (sealed uint64, err error) {
	if g.ledger == nil {
		return 0, errNotOpen
	}
	if err := g.at(BeforeWrite); err != nil {
		return 0, err
	}
	if _, err := g.ledger.Append(g.ctx, strconv.FormatUint(value, 10), ""); err != nil {
		return 0, err
	}
	return 0, g.at(AfterWrite)
}

// read implements durable.
func (g *ledgers) read(*holder.Lease) (history.Set, error) {
	if g.ledger == nil {
		return nil, errNotOpen
	}
	entries, err := g.ledger.Entries(g.ctx)
	if err != nil {
		return nil, err
	}
	var values history.Set
	for _, e := range entries {
		value, err := strconv.ParseUint(e.ID, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("entry %d has the id %q, which nobody gave", e.Seq, e.ID)
		}
		values = values.With(value)
	}
	return values, g.step()
}

// close implements durable.
func (g *ledgers) close() {
	if g.ledger != nil {
		_ = g.ledger.Close() // what it wrote is synced already
	}
}
