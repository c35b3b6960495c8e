package holdertest

import (
	"context"
	"slices"

	"example.com/tenure"
)

// Acquire asks for tenures. It returns when every item has its answer: those
// that wait in line keep the others' answers waiting, too.
func (s *Store) Acquire(ctx context.Context, req tenure.AcquireRequest) []tenure.Result {
	waiting := make([]*asker, len(req.Asks))
	results := s.each(ctx, len(req.Asks), func(i int) tenure.Result {
		var result tenure.Result
		result, waiting[i] = s.ask(req.Owner, req.Asks[i])
		return result
	})
	for i, a := range waiting {
		if a != nil {
			results[i] = s.wait(ctx, a)
		}
	}
	return results
}

// ask answers one item, or puts it in line.
func (s *Store) ask(owner string, ask tenure.Ask) (tenure.Result, *asker) {
	err := validate(ask.Key, owner, tenure.ValidateRequestID(ask.RequestID), validateTTL(ask.TTL), tenure.ValidateWait(ask.Wait))
	if err != nil {
		return tenure.Result{Err: err}, nil
	}
	r := s.records[ask.Key]
	switch own := r != nil && r.Owner == owner && r.requestID == ask.RequestID; {
	case own && r.Held:
		return s.extend(r, ask.TTL), nil
	case own:
		return tenure.Result{Err: s.lost(owner, tenure.Ending{Key: ask.Key, RequestID: ask.RequestID})}, nil
	case s.lines[ask.Key] == nil && s.free(ask.Key):
		return s.grant(owner, ask), nil
	case ask.Wait > 0:
		return tenure.Result{}, s.join(owner, ask)
	default:
		return tenure.Result{Err: s.heldError(ask.Key)}, nil
	}
}

// free reports whether somebody else would be granted the key.
func (s *Store) free(key string) bool {
	r := s.records[key]
	return r == nil || !r.Held || s.remaining(r) == 0
}

// grant begins a tenure.
func (s *Store) grant(owner string, ask tenure.Ask) tenure.Result {
	r := s.records[ask.Key]
	if r == nil {
		r = &record{Record: tenure.Record{Key: ask.Key, Epoch: s.floor, ForgottenAtEpoch: s.floor}}
		s.records[ask.Key] = r
	}
	r.Epoch++
	r.Owner, r.Held = owner, true
	r.requestID, r.ttl = ask.RequestID, 0
	return s.extend(r, ask.TTL)
}

func (s *Store) heldError(key string) error {
	r := s.records[key]
	if r == nil {
		r = &record{Record: tenure.Record{Key: key, Epoch: s.floor, ForgottenAtEpoch: s.floor}}
	}
	return &tenure.HeldError{Record: r.Record, Remaining: s.remaining(r)}
}

// A line is who waits for a key, in the order in which they came.
type line struct {
	places []*place
	timer  tenure.Timer // fires when the present tenure expires
}

// A place is one request id in a line. Who asks again under the same id joins
// it.
type place struct {
	owner  string
	ask    tenure.Ask
	askers []*asker
}

// An asker is one call that waits.
type asker struct {
	place  *place
	ask    tenure.Ask
	answer chan tenure.Result // takes one
}

func (s *Store) join(owner string, ask tenure.Ask) *asker {
	l := s.lines[ask.Key]
	if l == nil {
		l = &line{}
		s.lines[ask.Key] = l
	}
	at := slices.IndexFunc(l.places, func(p *place) bool { return p.owner == owner && p.ask.RequestID == ask.RequestID })
	if at < 0 {
		at = len(l.places)
		l.places = append(l.places, &place{owner: owner, ask: ask})
	}
	a := &asker{place: l.places[at], ask: ask, answer: make(chan tenure.Result, 1)}
	a.place.askers = append(a.place.askers, a)
	s.serve(ask.Key)
	return a
}

// serve grants the key to the first in line if it is free, and else sees to it
// that this is looked at again when the tenure expires.
func (s *Store) serve(key string) {
	l := s.lines[key]
	if l == nil {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if s.free(key) {
		s.index++
		head := l.places[0]
		l.places = l.places[1:]
		head.settle(s.grant(head.owner, head.ask))
	}
	if len(l.places) == 0 {
		s.dropLine(key)
		return
	}
	l.timer = s.clock.AfterFunc(s.remaining(s.records[key]), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.lines[key] == l {
			s.serve(key)
		}
	})
}

func (p *place) settle(result tenure.Result) {
	for _, a := range p.askers {
		a.answer <- result
	}
	p.askers = nil
}

func (s *Store) dropLine(key string) {
	if l := s.lines[key]; l != nil && l.timer != nil {
		l.timer.Stop()
	}
	delete(s.lines, key)
}

// wait returns the answer of a call that stands in line.
func (s *Store) wait(ctx context.Context, a *asker) tenure.Result {
	over := make(chan struct{})
	timer := s.clock.AfterFunc(a.ask.Wait, func() { close(over) })
	defer timer.Stop()
	select {
	case result := <-a.answer:
		return result
	case <-over:
		return s.leave(a, func() error { return s.heldError(a.ask.Key) })
	case <-ctx.Done():
		return s.leave(a, func() error {
			return &tenure.UnavailableError{Key: a.ask.Key, Reason: "left the line", Err: ctx.Err()}
		})
	}
}

// leave takes a call out of line, with its place if nobody else stands there,
// unless it has been answered meanwhile.
func (s *Store) leave(a *asker, why func() error) tenure.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case result := <-a.answer:
		return result
	default:
	}
	key := a.ask.Key
	a.place.askers = slices.DeleteFunc(a.place.askers, func(b *asker) bool { return b == a })
	if l := s.lines[key]; l != nil && len(a.place.askers) == 0 {
		l.places = slices.DeleteFunc(l.places, func(p *place) bool { return p == a.place })
		if len(l.places) == 0 {
			s.dropLine(key)
		}
	}
	return tenure.Result{Err: why()}
}
