package check

import (
	"fmt"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A record is what the store knows of one key, as the sequential model of it
// has it. It is comparable: two records that are equal have the same future.
type record struct {
	held       bool
	owner, req string // of the present or the last tenure
	epoch      uint64
	forgotten  uint64
	// Both may be no more than lower bounds: the grant of a key that was
	// dropped starts above the cluster's floor, and if it was never answered
	// nobody knows where that was.
	looseEpoch, looseForgotten bool
	ttl                        time.Duration

	// low is the least instant at which what was linearized so far can have
	// taken place, logged the same for log entries alone: a node counts from
	// the instant at which it stored an entry, and that may be before a read
	// which does not see the entry yet.
	low, logged time.Duration
	// expires is the least instant at which any node can have seen the tenure
	// expire.
	expires time.Duration
}

// A step is an operation on one key, as the model takes it.
type step struct {
	ask    *history.Event
	answer *history.Event // nil if the outcome is unknown
	ok     bool           // applied; else refused
	call   time.Duration
	ret    time.Duration
	rate   float64 // of the fastest node's clock; 0 switches time off
}

// dropped reports whether the record may be gone: released, with nothing left
// that was not forgotten. Its key then starts above the cluster's floor, which
// may be far higher.
func (r *record) dropped() bool {
	return !r.held && (r.forgotten == r.epoch || r.looseEpoch || r.looseForgotten)
}

// is reports whether the record's tenure is the one that an ask names.
func (r *record) is(e *history.Event) bool {
	if !r.held || r.owner != e.Owner {
		return false
	}
	if e.Epoch == 0 {
		return r.req == e.Req
	}
	return e.Epoch == r.epoch || r.looseEpoch && e.Epoch > r.epoch
}

// next returns the records that can stand after the step, none if the step is
// impossible here.
func (r record) next(s *step) []record {
	r.low = max(r.low, s.call)
	if s.ret < r.low {
		return nil
	}
	switch {
	case s.answer == nil:
		return append(r.applied(s), r)
	case s.ok && s.ask.F == history.Get:
		return r.read(s)
	case s.ok:
		return r.applied(s)
	}
	return r.refused(s)
}

// applied returns the records after a command that took effect.
func (r record) applied(s *step) []record {
	r.logged = max(r.logged, s.call)
	if s.ask.F == history.Acquire {
		return r.acquire(s)
	}
	if !r.is(s.ask) {
		return nil
	}
	if s.ask.Epoch != 0 {
		r.epoch, r.looseEpoch = s.ask.Epoch, false
	}
	switch s.ask.F {
	case history.Renew:
		return r.extend(s)
	case history.Release:
		if s.ask.Forget && s.ask.Epoch != 0 {
			r.forget()
		}
		r.held, r.ttl, r.expires = false, 0, 0
	case history.Forget:
		if s.answer != nil && s.answer.Forgotten != r.epoch {
			return nil
		}
		r.forget()
	}
	return []record{r}
}

func (r *record) forget() { r.forgotten, r.looseForgotten = r.epoch, r.looseEpoch }

func (r record) acquire(s *step) []record {
	if r.held && r.owner == s.ask.Owner && r.req == s.ask.Req {
		if s.answer != nil && !r.settle(s.answer.Epoch) {
			return nil
		}
		return r.extend(s)
	}
	if !r.held && r.owner == s.ask.Owner && r.req == s.ask.Req && !r.dropped() {
		return nil // a late duplicate
	}
	if r.held {
		if s.rate > 0 {
			if s.ret < r.expires {
				return nil
			}
			r.low, r.logged = max(r.low, r.expires), max(r.logged, r.expires)
		}
	}
	return r.grant(s)
}

// grant begins a new tenure.
func (r record) grant(s *step) []record {
	anyHigher := r.dropped() || r.looseEpoch
	if s.answer == nil {
		r.epoch++
		r.looseEpoch, r.looseForgotten = anyHigher, anyHigher || r.looseForgotten
	} else {
		if s.answer.Epoch <= r.epoch || s.answer.Epoch > r.epoch+1 && !anyHigher || s.answer.Forgotten >= s.answer.Epoch {
			return nil
		}
		r.epoch, r.looseEpoch, r.looseForgotten = s.answer.Epoch, false, anyHigher || r.looseForgotten
	}
	r.held, r.owner, r.req = true, s.ask.Owner, s.ask.Req
	r.ttl, r.expires = 0, 0
	return r.extend(s)
}

// extend moves the expiry, which never goes back within a tenure.
func (r record) extend(s *step) []record {
	r.ttl = max(r.ttl, s.ask.TTL)
	if s.answer != nil {
		if s.answer.TTL != r.ttl || !r.settleForgotten(s.answer.Forgotten) {
			return nil
		}
	}
	if s.rate > 0 {
		r.expires = max(r.expires, r.logged+time.Duration(float64(r.ttl)/s.rate))
	}
	return []record{r}
}

// settle takes the epoch that an answer tells, and reports whether it can be.
func (r *record) settle(epoch uint64) bool {
	if epoch != r.epoch && (!r.looseEpoch || epoch < r.epoch) {
		return false
	}
	r.epoch, r.looseEpoch = epoch, false
	return true
}

// settleForgotten takes the forgotten epoch that an answer tells, and reports
// whether it can be.
func (r *record) settleForgotten(epoch uint64) bool {
	if epoch != r.forgotten && (!r.looseForgotten || epoch < r.forgotten) {
		return false
	}
	r.forgotten, r.looseForgotten = epoch, false
	return true
}

// refused returns the record if the refusal is right.
func (r record) refused(s *step) []record {
	right := false
	switch {
	case s.answer.Err == history.Held:
		right = s.ask.F == history.Acquire && !(r.held && r.owner == s.ask.Owner && r.req == s.ask.Req) && r.tells(s.answer, s.answer.Holder)
	case s.ask.F == history.Acquire:
		right = !r.held && r.owner == s.ask.Owner && r.req == s.ask.Req
	default:
		right = !r.is(s.ask) || r.looseEpoch
	}
	if !right {
		return nil
	}
	return []record{r}
}

// read returns the record if that is what a confirmed read told.
func (r record) read(s *step) []record {
	gone := r.dropped() // then the cluster's floor is told
	if !r.tells(s.answer, s.answer.Owner) || s.answer.Forgotten < r.forgotten || !gone && !r.settleForgotten(s.answer.Forgotten) {
		return nil
	}
	if s.answer.Expired && r.held && s.rate > 0 {
		if s.ret < r.expires {
			return nil
		}
		r.low = max(r.low, r.expires)
	}
	return []record{r}
}

// tells reports whether an answer's record can be this one, and settles the
// epoch if it was loose.
func (r *record) tells(e *history.Event, owner string) bool {
	if e.Held != r.held {
		return false
	}
	if !r.held && r.dropped() {
		return e.Epoch >= r.epoch
	}
	return r.settle(e.Epoch) && (!r.held || owner == r.owner)
}

// String describes the record for people.
func (r record) String() string {
	state := "free"
	if r.held {
		state = fmt.Sprintf("held by %s (request %s)", r.owner, r.req)
		if r.expires > 0 {
			state += fmt.Sprintf(", not expired before %s", at(r.expires))
		}
	}
	least := ""
	if r.looseEpoch {
		least = "at least "
	}
	return fmt.Sprintf("%s, epoch %s%d, forgotten %d, not before %s", state, least, r.epoch, r.forgotten, at(r.low))
}
