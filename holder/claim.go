package holder

import (
	"errors"
	"fmt"

	"example.com/tenure"
)

// claim makes sure that a key has one handle in this holder, and returns the
// bids that have theirs. A bid that has to wait until an earlier tenure was
// handed back stays unclaimed.
func (h *Holder) claim(bids []*bid) (claimed []*bid) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range bids {
		if !b.claimed {
			h.claimOne(b)
		}
		if b.claimed {
			claimed = append(claimed, b)
		}
	}
	return claimed
}

func (h *Holder) claimOne(b *bid) {
	if l, ok := h.leases[b.key]; ok {
		b.result.Err = &tenure.HeldError{Record: l.record(), Remaining: l.Remaining()}
		return
	}
	if _, ok := h.acquiring[b.key]; ok {
		held := &tenure.HeldError{Record: tenure.Record{Key: b.key, Owner: h.owner, Held: true}}
		b.result.Err = fmt.Errorf("%s: this holder is acquiring it already: %w", b.key, held)
		return
	}
	if _, ok := h.returns.pending[b.key]; ok {
		b.trail.last = errors.New("its last tenure has still to be handed back")
		h.hurryReturns()
		return
	}
	h.acquiring[b.key] = struct{}{}
	b.claimed = true
}

// fail settles a bid with an error, and hands back what it may have acquired.
func (h *Holder) fail(b *bid, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failLocked(b, err)
}

func (h *Holder) failLocked(b *bid, err error) {
	b.result.Err = err
	if !b.claimed {
		return
	}
	delete(h.acquiring, b.key)
	switch {
	case b.epoch != 0:
		h.giveBack(tenure.Ending{Key: b.key, Epoch: b.epoch})
	case b.trail.unknown:
		h.giveBack(tenure.Ending{Key: b.key, RequestID: b.id})
	}
}
