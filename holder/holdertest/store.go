package holdertest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"example.com/tenure"
)

// A Store is a [tenure.Store] in memory. All methods can be called
// concurrently.
type Store struct {
	clock tenure.Clock

	mu          sync.Mutex
	unreachable bool
	index       uint64 // of the newest entry
	floor       uint64 // the forgotten floor
	records     map[string]*record
	lines       map[string]*line
}

// A record is what the store knows of a key.
type record struct {
	tenure.Record
	requestID string        // of the acquire that made the present or last tenure
	ttl       time.Duration // of the present tenure
	grant     uint64        // its grant index
	observed  time.Duration // when that grant was applied
}

// NewStore returns an empty store that judges expiry by clock; nil is
// [tenure.MonotonicClock]. Its largest TTL is [tenure.DefaultLargestTTL].
func NewStore(clock tenure.Clock) *Store {
	if clock == nil {
		clock = tenure.MonotonicClock()
	}
	return &Store{clock: clock, records: make(map[string]*record), lines: make(map[string]*line)}
}

// SetReachable says whether the store answers. While it does not, every call
// is answered at once as unavailable and not applied, those that wait in line
// included. Time goes on: tenures expire.
func (s *Store) SetReachable(reachable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unreachable = !reachable
	if s.unreachable {
		for key, l := range s.lines {
			for _, p := range l.places {
				p.settle(tenure.Result{Err: unreachable(key)})
			}
			s.dropLine(key)
		}
	}
}

// Get returns what the store knows of a key.
func (s *Store) Get(key string) tenure.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[key]
	if !ok {
		return tenure.View{Record: tenure.Record{Key: key, Epoch: s.floor, ForgottenAtEpoch: s.floor}}
	}
	return s.view(r)
}

// List returns what the store knows of every key that has a record, in the
// order of the keys' bytes.
func (s *Store) List() []tenure.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	views := make([]tenure.View, 0, len(s.records))
	for _, r := range s.records {
		views = append(views, s.view(r))
	}
	slices.SortFunc(views, func(a, b tenure.View) int { return cmp.Compare(a.Record.Key, b.Record.Key) })
	return views
}

func (s *Store) view(r *record) tenure.View {
	if !r.Held {
		return tenure.View{Record: r.Record}
	}
	left := s.remaining(r)
	return tenure.View{Record: r.Record, TTL: r.ttl, Index: r.grant, Expired: left == 0, Remaining: left}
}

func (s *Store) remaining(r *record) time.Duration {
	return max(r.observed+r.ttl-s.clock.Now(), 0)
}

// begin starts an entry, unless the store can't be reached or the context has
// ended. It is called with the lock held.
func (s *Store) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &tenure.UnavailableError{Reason: "nothing was sent", Err: err}
	}
	if s.unreachable {
		return unreachable("")
	}
	s.index++
	return nil
}

func unreachable(key string) error {
	return &tenure.UnavailableError{Key: key, Reason: "the store in memory was made unreachable"}
}

// each makes one entry of a batch: the result of every item, or err for all.
func (s *Store) each(ctx context.Context, n int, item func(i int) tenure.Result) []tenure.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	results := make([]tenure.Result, n)
	err := s.begin(ctx)
	for i := range results {
		if err != nil {
			results[i].Err = err
			continue
		}
		results[i] = item(i)
	}
	return results
}

// Renew extends tenures.
func (s *Store) Renew(ctx context.Context, req tenure.RenewRequest) []tenure.Result {
	return s.each(ctx, len(req.Renewals), func(i int) tenure.Result {
		item := req.Renewals[i]
		if err := validate(item.Key, req.Owner, tenure.ValidateEpoch(item.Epoch), validateTTL(item.TTL)); err != nil {
			return tenure.Result{Err: err}
		}
		r, err := s.held(req.Owner, item.Key, item.Epoch)
		if err != nil {
			return tenure.Result{Err: err}
		}
		return s.extend(r, item.TTL)
	})
}

// Forget raises the forgotten epoch of tenures that are held.
func (s *Store) Forget(ctx context.Context, req tenure.ForgetRequest) []tenure.Result {
	return s.each(ctx, len(req.Tenures), func(i int) tenure.Result {
		item := req.Tenures[i]
		if err := validate(item.Key, req.Owner, tenure.ValidateEpoch(item.Epoch)); err != nil {
			return tenure.Result{Err: err}
		}
		r, err := s.held(req.Owner, item.Key, item.Epoch)
		if err != nil {
			return tenure.Result{Err: err}
		}
		r.ForgottenAtEpoch = r.Epoch
		return tenure.Result{Grant: r.asGrant()}
	})
}

// Release ends tenures. Whoever is the first in line gets the key at once.
func (s *Store) Release(ctx context.Context, req tenure.ReleaseRequest) []tenure.Result {
	return s.each(ctx, len(req.Endings), func(i int) tenure.Result {
		result := s.release(req.Owner, req.Endings[i], req.Forget)
		s.serve(req.Endings[i].Key)
		return result
	})
}

func (s *Store) release(owner string, e tenure.Ending, forget bool) tenure.Result {
	if err := validate(e.Key, owner, identity(e)); err != nil {
		return tenure.Result{Err: err}
	}
	r := s.records[e.Key]
	named := r != nil && r.Held && r.Owner == owner &&
		(e.Epoch != 0 && r.Epoch == e.Epoch || e.Epoch == 0 && r.requestID == e.RequestID)
	if !named {
		return tenure.Result{Err: s.lost(owner, e)}
	}
	if forget && e.Epoch != 0 {
		r.ForgottenAtEpoch = r.Epoch
	}
	r.Held = false
	if r.ForgottenAtEpoch == r.Epoch {
		s.floor = max(s.floor, r.Epoch)
		delete(s.records, e.Key)
	}
	return tenure.Result{Grant: tenure.Grant{Record: r.Record}}
}

// identity returns what is wrong with how an ending names its tenure.
func identity(e tenure.Ending) error {
	switch {
	case e.RequestID == "":
		return tenure.ValidateEpoch(e.Epoch)
	case e.Epoch == 0:
		return tenure.ValidateRequestID(e.RequestID)
	}
	return &tenure.InvalidError{Field: "request_id", Value: fmt.Sprintf("%.64q", e.RequestID), Bound: "left out where an epoch names the tenure"}
}

// held returns the record of a tenure, or how it was lost.
func (s *Store) held(owner, key string, epoch uint64) (*record, error) {
	r := s.records[key]
	if r == nil || !r.Held || r.Owner != owner || r.Epoch != epoch {
		return nil, s.lost(owner, tenure.Ending{Key: key, Epoch: epoch})
	}
	return r, nil
}

func (s *Store) lost(owner string, e tenure.Ending) error {
	err := &tenure.LostError{Key: e.Key, Owner: owner, Epoch: e.Epoch, RequestID: e.RequestID}
	if r := s.records[e.Key]; r != nil {
		err.Record = r.Record
	}
	return err
}

// extend is the effect of a renewal: a TTL that never shrinks, counted from
// now.
func (s *Store) extend(r *record, ttl time.Duration) tenure.Result {
	r.ttl = max(r.ttl, ttl)
	r.grant = s.index
	r.observed = s.clock.Now()
	return tenure.Result{Grant: r.asGrant()}
}

func (r *record) asGrant() tenure.Grant {
	return tenure.Grant{Record: r.Record, TTL: r.ttl, Index: r.grant}
}

func validateTTL(ttl time.Duration) error {
	return tenure.ValidateTTL(ttl, tenure.DefaultLargestTTL)
}

// validate returns the first thing that is wrong with an item.
func validate(key, owner string, errs ...error) error {
	for _, err := range append([]error{tenure.ValidateKey(key), tenure.ValidateOwner(owner)}, errs...) {
		if err != nil {
			return err
		}
	}
	return nil
}
