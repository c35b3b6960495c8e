package check_test

import (
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A synthRecord is what the made-up store knows of a key.
type synthRecord struct {
	held, known bool
	owner, req  string
	epoch       uint64
	forgotten   uint64
	ttl         time.Duration
	grant       uint64
	observed    time.Duration
	cached      history.Event // the answer to the tenure's acquire
}

type synthStore struct {
	*synth
	records map[string]*synthRecord
	old     map[string]synthRecord // as they were at the last restart
	index   uint64
	floor   uint64
	term    uint64
	told    time.Duration // when the last watch event is told
	reorder *history.Event
}

func newSynthStore(s *synth) *synthStore {
	return &synthStore{synth: s, records: make(map[string]*synthRecord), old: make(map[string]synthRecord)}
}

func (s *synthStore) record(key string) *synthRecord {
	if s.records[key] == nil {
		s.records[key] = &synthRecord{}
	}
	return s.records[key]
}

// restart is a change of leader, with a snapshot: it makes expiry later, never
// sooner.
func (s *synthStore) restart() {
	s.term++
	s.emit(history.Event{Kind: history.Leader, Node: "n1", Term: s.term})
	s.emit(history.Event{Kind: history.Snapshot, Node: "n2", Index: max(1, s.index)})
	for k := range synthKeys {
		key := "k" + string(rune('0'+k))
		r := s.record(key)
		s.old[key] = *r
		r.observed += s.between(0, 50)
		switch {
		case s.plant("restart-forgets", 4):
			r.held = false
		case s.plant("snapshot-loses", 8):
			*r = synthRecord{}
		case s.plant("forgotten-lowered", 2):
			r.forgotten = 0
		}
	}
}

func (s *synthStore) apply(ask history.Event) history.Event {
	r := s.record(ask.Key)
	if ask.F == history.Get {
		return s.get(ask.Key, r)
	}
	if ask.F == history.Acquire {
		return s.acquire(ask, r)
	}
	s.append(ask, 0, 0)
	mine := r.held && r.owner == ask.Owner && (ask.Epoch == r.epoch || ask.Epoch == 0 && ask.Req == r.req)
	if !mine || s.plant("lost-for-nothing", 60) {
		return s.lost(ask, r)
	}
	switch ask.F {
	case history.Renew:
		r.extend(s, ask.TTL)
	case history.Release:
		if s.plant("release-not-applied", 4) {
			break
		}
		r.held = false
		if r.forgotten == r.epoch {
			r.known, s.floor = false, max(s.floor, r.epoch)
		}
		s.watch(history.Released, ask.Key, r)
	case history.Forget:
		if r.forgotten != r.epoch {
			r.forgotten = r.epoch
			s.watch(history.Forgotten, ask.Key, r)
		}
	}
	return s.granted(r)
}

// lost answers a command whose tenure is over.
func (s *synthStore) lost(ask history.Event, r *synthRecord) history.Event {
	if ask.F == history.Renew {
		switch {
		case s.plant("renewal-resurrects", 2):
			r.held, r.owner, r.epoch = true, ask.Owner, ask.Epoch
			r.extend(s, ask.TTL)
			return s.granted(r)
		case s.plant("batch-renews-lost", 2):
			return history.Event{Kind: history.OK, TTL: synthTTL, Index: s.index, Forgotten: r.forgotten}
		}
	}
	return history.Event{Kind: history.Fail, Err: history.Lost, Holder: r.owner, Epoch: r.epoch, Held: r.held}
}

func (s *synthStore) acquire(ask history.Event, r *synthRecord) history.Event {
	same := r.known && r.owner == ask.Owner && r.req == ask.Req
	ttl := r.ttl
	if s.defect == "expiry-early" {
		ttl = ttl * 8 / 10
	}
	expired := r.held && s.now >= r.observed+ttl || r.held && s.plant("takeover-without-cas", 100)
	if same && r.held && s.defect == "cached-answer" {
		return r.cached
	}
	if expired {
		s.append(ask, r.epoch, r.grant)
	} else {
		s.append(ask, 0, 0)
	}
	switch {
	case same && r.held && !s.plant("duplicate-granted-anew", 1):
		r.extend(s, ask.TTL)
		return s.granted(r)
	case same && !r.held:
		return s.lost(ask, r)
	case r.held && !expired && !same:
		return history.Event{Kind: history.Fail, Err: history.Held, Holder: r.owner, Epoch: r.epoch, Held: r.held}
	case !r.known:
		r.epoch, r.forgotten = max(r.epoch, s.floor), max(r.forgotten, s.floor)
	}
	if !r.held || !s.plant("epoch-not-raised", 4) {
		r.epoch++
	}
	r.held, r.known, r.owner, r.req, r.ttl = true, true, ask.Owner, ask.Req, 0
	r.extend(s, ask.TTL)
	s.watch(history.Granted, ask.Key, r)
	r.cached = s.granted(r)
	return r.cached
}

func (r *synthRecord) extend(s *synthStore, ttl time.Duration) {
	r.ttl, r.grant, r.observed = max(r.ttl, ttl), s.index, s.now
}

func (s *synthStore) granted(r *synthRecord) history.Event {
	return history.Event{Kind: history.OK, Epoch: r.epoch, TTL: r.ttl, Index: s.index, Forgotten: r.forgotten}
}

func (s *synthStore) get(key string, r *synthRecord) history.Event {
	if s.plant("stale-read", 4) {
		old := s.old[key]
		r = &old
	}
	e := history.Event{Kind: history.OK, Owner: r.owner, Epoch: r.epoch, Held: r.held, Forgotten: r.forgotten}
	e.Expired = r.held && s.now >= r.observed+r.ttl
	if !r.held && r.forgotten == r.epoch {
		e.Epoch, e.Forgotten, e.Owner = max(r.epoch, s.floor), max(r.epoch, s.floor), ""
	}
	return e
}

func (s *synthStore) append(ask history.Event, epoch, grant uint64) {
	s.index++
	s.log = append(s.log, history.Event{
		Kind: history.Log, F: ask.F, Index: s.index, Term: s.term, Key: ask.Key, Owner: ask.Owner, Epoch: ask.Epoch, Req: ask.Req,
		TTL: ask.TTL, SeenEpoch: epoch, SeenIndex: grant,
	})
}

// watch tells an event to the one watch, in order.
func (s *synthStore) watch(kind, key string, r *synthRecord) {
	e := history.Event{Kind: history.Watch, F: kind, Client: "watcher", Node: "n0", Index: s.index, Key: key, Owner: r.owner, Epoch: r.epoch}
	switch {
	case s.plant("watch-drops", 20):
		return
	case s.plant("watch-lies", 20):
		e.Owner = "somebody"
	case s.defect == "watch-reorders" && s.reorder == nil && s.rng.IntN(10) == 0:
		s.reorder = &e
		return
	}
	s.told = max(s.told, s.now+s.between(1, 30))
	s.after(s.told-s.now, func() { s.emit(e) })
	if late := s.reorder; late != nil {
		s.reorder = nil
		s.after(s.told-s.now, func() { s.emit(*late) })
	}
}
