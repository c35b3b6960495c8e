package machine

import (
	"time"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// A Judgement is what this node thinks of a key at one instant.
type Judgement struct {
	fsm.Lookup
	// Grantable says that an acquire with Evidence would be granted, as far as
	// this node can tell.
	Grantable bool
	Evidence  fsm.Evidence  // what this node saw expire; zero if the key is free
	Remaining time.Duration // until the key is grantable if nobody renews
}

// Judge looks a key up and judges its expiry by the node's clock.
func (m *Machine) Judge(key string) Judgement {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.judge(m.state.Lookup(key))
}

// judge needs m.mu. A tenure of which nothing was seen, or another grant than
// the one that stands, never counts as expired.
func (m *Machine) judge(l fsm.Lookup) Judgement {
	j := Judgement{Lookup: l}
	switch number, standing := m.state.Marker(); {
	case l.Record.Held:
		seen, ok := m.observed.get(l.Number.Slot, l.Record.Epoch, l.GrantIndex)
		if j.Remaining = l.TTL; ok {
			j.Remaining = seen.left(m.cfg.Clock.Now())
		}
		j.Grantable = ok && j.Remaining == 0
		j.Evidence = fsm.Evidence{Epoch: l.Record.Epoch, GrantIndex: l.GrantIndex}
	case standing:
		j.Remaining = m.markerLeft()
		j.Grantable = j.Remaining == 0
		j.Evidence = fsm.Evidence{Marker: number}
	default:
		j.Grantable = true
	}
	if !j.Grantable {
		j.Evidence = fsm.Evidence{}
	}
	return j
}

// markerLeft returns how long the unknown tenures, for which the restore marker
// stands, may still be inside their fences. It needs m.mu.
func (m *Machine) markerLeft() time.Duration {
	_, window := m.state.MarkerWindow()
	return sighting{ttl: window, at: m.marker}.left(m.cfg.Clock.Now())
}

// Marker returns the number of the standing restore marker and how long it
// still has in this node's judgement; false if none stands.
func (m *Machine) Marker() (number uint64, left time.Duration, standing bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if number, standing = m.state.Marker(); standing {
		left = m.markerLeft()
	}
	return number, left, standing
}

// View returns the record of a key as this node sees it.
func (m *Machine) View(key string) tenure.View { return m.Judge(key).View() }

// View returns the judgement in the vocabulary's words.
func (j Judgement) View() tenure.View {
	if !j.Record.Held {
		return tenure.View{Record: j.Record}
	}
	return tenure.View{Record: j.Record, TTL: j.TTL, Index: j.GrantIndex, Expired: j.Grantable, Remaining: j.Remaining}
}

// List returns a page of the records as this node sees them.
func (m *Machine) List(l tenure.Listing) tenure.Page {
	m.mu.RLock()
	defer m.mu.RUnlock()
	found, next := m.state.List(l.Prefix, l.Owner, l.Cursor, l.Limit)
	page := tenure.Page{Views: make([]tenure.View, len(found)), Cursor: next}
	for i := range found {
		page.Views[i] = m.judge(found[i]).View()
	}
	return page
}
