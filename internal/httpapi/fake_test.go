package httpapi

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/tenure"
)

// A fake is a backend of one lock and no log. Nothing expires; what the tests
// change by hand is exported by name.
type fake struct {
	mu       sync.Mutex
	index    uint64
	records  map[string]*fakeRecord
	members  []tenure.Member
	watchers map[*fakeWatcher]bool
	changed  chan struct{} // closed and made anew with every change
	waiting  int

	// broken makes every call fail with it, notReady only Ready.
	broken   error
	notReady error
	largest  time.Duration
	calls    int // of anything that could change something
}

type fakeRecord struct {
	tenure.Record
	id  string
	ttl time.Duration
	at  uint64
}

func newFake() *fake {
	return &fake{
		records:  map[string]*fakeRecord{},
		watchers: map[*fakeWatcher]bool{},
		changed:  make(chan struct{}),
		largest:  time.Hour,
		members: []tenure.Member{
			{ID: "n1", Incarnation: "a1", Addr: "127.0.0.1:7400", Voter: true, Leader: true},
			{ID: "n2", Incarnation: "b2", Addr: "127.0.0.1:7401", Voter: true},
		},
	}
}

// change records that something changed; the lock is held.
func (f *fake) change(kind tenure.EventKind, r *fakeRecord) {
	f.index++
	r.at = f.index
	close(f.changed)
	f.changed = make(chan struct{})
	f.emit(tenure.Event{Kind: kind, Index: f.index, Record: r.Record})
}

// emit gives watchers the events of one entry; the lock is held.
func (f *fake) emit(events ...tenure.Event) {
	for w := range f.watchers {
		w.add(events)
	}
}

func (f *fake) record(key string) *fakeRecord {
	r := f.records[key]
	if r == nil {
		r = &fakeRecord{Record: tenure.Record{Key: key}}
		f.records[key] = r
	}
	return r
}

// each answers the items of a call; check returns what is malformed of one.
func (f *fake) each(n int, owner string, item func(i int) (key string, check, answer func() error, grant func() tenure.Grant)) []tenure.Result {
	results := make([]tenure.Result, n)
	for i := range results {
		key, check, answer, grant := item(i)
		err := f.broken
		if err == nil {
			err = errors.Join(tenure.ValidateOwner(owner), tenure.ValidateKey(key), check())
			var invalid *tenure.InvalidError
			if errors.As(err, &invalid) {
				if invalid.Field != "key" {
					invalid.Key = key
				}
				err = invalid
			}
		}
		if err == nil {
			f.calls++
			err = answer()
		}
		if results[i].Err = err; err == nil {
			results[i].Grant = grant()
		}
	}
	return results
}

func (f *fake) grant(key string) func() tenure.Grant {
	return func() tenure.Grant {
		r := f.record(key)
		return tenure.Grant{Record: r.Record, TTL: r.ttl, Index: r.at}
	}
}

func (f *fake) Acquire(ctx context.Context, req tenure.AcquireRequest) []tenure.Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.each(len(req.Asks), req.Owner, func(i int) (string, func() error, func() error, func() tenure.Grant) {
		a := req.Asks[i]
		return a.Key, func() error {
			return errors.Join(tenure.ValidateRequestID(a.RequestID), tenure.ValidateTTL(a.TTL, f.largest), tenure.ValidateWait(a.Wait))
		}, func() error { return f.acquire(ctx, req.Owner, a) }, f.grant(a.Key)
	})
}

// acquire waits, without the lock, for as long as the key is held.
func (f *fake) acquire(ctx context.Context, owner string, a tenure.Ask) error {
	deadline := time.NewTimer(a.Wait)
	defer deadline.Stop()
	for {
		r := f.record(a.Key)
		switch {
		case r.Held && r.Owner == owner && r.id == a.RequestID:
			return nil
		case !r.Held:
			r.Owner, r.id, r.ttl, r.Held = owner, a.RequestID, a.TTL, true
			r.Epoch++
			f.change(tenure.EventGranted, r)
			return nil
		case a.Wait == 0:
			return &tenure.HeldError{Record: r.Record, Remaining: 1500*time.Millisecond + 1}
		}
		changed := f.changed
		f.waiting++
		f.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-deadline.C:
			a.Wait = 0
		case <-ctx.Done():
			err = &tenure.UnavailableError{Key: a.Key, Reason: "no answer before the call ended", Err: ctx.Err()}
		}
		f.mu.Lock()
		f.waiting--
		if err != nil {
			return err
		}
	}
}

// held returns the record if that tenure stands.
func (f *fake) held(owner, key string, epoch uint64, id string) (*fakeRecord, error) {
	r := f.record(key)
	if r.Held && r.Owner == owner && (epoch == r.Epoch || epoch == 0 && id == r.id) {
		return r, nil
	}
	return nil, &tenure.LostError{Key: key, Owner: owner, Epoch: epoch, RequestID: id, Record: r.Record}
}

func (f *fake) Renew(_ context.Context, req tenure.RenewRequest) []tenure.Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.each(len(req.Renewals), req.Owner, func(i int) (string, func() error, func() error, func() tenure.Grant) {
		n := req.Renewals[i]
		return n.Key, func() error {
				return errors.Join(tenure.ValidateEpoch(n.Epoch), tenure.ValidateTTL(n.TTL, f.largest))
			}, func() error {
				r, err := f.held(req.Owner, n.Key, n.Epoch, "")
				if err == nil {
					r.ttl = max(r.ttl, n.TTL)
				}
				return err
			}, f.grant(n.Key)
	})
}

func (f *fake) Release(_ context.Context, req tenure.ReleaseRequest) []tenure.Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.each(len(req.Endings), req.Owner, func(i int) (string, func() error, func() error, func() tenure.Grant) {
		e := req.Endings[i]
		return e.Key, func() error {
				if e.RequestID != "" && e.Epoch == 0 {
					return tenure.ValidateRequestID(e.RequestID)
				}
				return tenure.ValidateEpoch(e.Epoch)
			}, func() error {
				r, err := f.held(req.Owner, e.Key, e.Epoch, e.RequestID)
				if err != nil {
					return err
				}
				if req.Forget {
					r.ForgottenAtEpoch = r.Epoch
				}
				r.Held, r.ttl = false, 0
				f.change(tenure.EventReleased, r)
				return nil
			}, f.grant(e.Key)
	})
}

func (f *fake) Forget(_ context.Context, req tenure.ForgetRequest) []tenure.Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.each(len(req.Tenures), req.Owner, func(i int) (string, func() error, func() error, func() tenure.Grant) {
		t := req.Tenures[i]
		return t.Key, func() error { return tenure.ValidateEpoch(t.Epoch) }, func() error {
			r, err := f.held(req.Owner, t.Key, t.Epoch, "")
			if err == nil {
				r.ForgottenAtEpoch = r.Epoch
				f.change(tenure.EventForgotten, r)
			}
			return err
		}, f.grant(t.Key)
	})
}

func (f *fake) Get(_ context.Context, key string) (tenure.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken != nil {
		return tenure.View{}, f.broken
	}
	return f.view(key), tenure.ValidateKey(key)
}

func (f *fake) view(key string) tenure.View {
	r := f.records[key]
	if r == nil {
		return tenure.View{Record: tenure.Record{Key: key}}
	}
	v := tenure.View{Record: r.Record, TTL: r.ttl}
	if r.Held {
		v.Index, v.Remaining = r.at, r.ttl/2
	}
	return v
}

func (f *fake) List(_ context.Context, l tenure.Listing) (page tenure.Page, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken != nil {
		return page, f.broken
	}
	if l.Limit == 0 {
		l.Limit = tenure.DefaultListing
	}
	var keys []string
	for key, r := range f.records {
		if strings.HasPrefix(key, l.Prefix) && key > l.Cursor && (l.Owner == "" || r.Held && r.Owner == l.Owner) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if len(keys) > l.Limit {
		keys = keys[:l.Limit]
		page.Cursor = keys[l.Limit-1]
	}
	for _, key := range keys {
		page.Views = append(page.Views, f.view(key))
	}
	return page, nil
}

func (f *fake) Status() tenure.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return tenure.Status{ID: "n1", Incarnation: "a1", ClusterID: "c0ffee", Addr: "127.0.0.1:7400", Version: "test", Role: tenure.RoleLeader,
		Leader: "n1", LeaderAddr: "127.0.0.1:7400", Term: 3, CommitIndex: f.index, AppliedIndex: f.index, Checksum: 0xabc, LargestTTL: f.largest,
		Records: len(f.records), Waiting: f.waiting, Members: slices.Clone(f.members)}
}

func (f *fake) Ready() error { return f.notReady }

func (f *fake) Members(context.Context) ([]tenure.Member, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.members), f.broken
}

func (f *fake) Join(_ context.Context, id, addr string, nonvoter bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == "" {
		return &tenure.InvalidError{Field: "id", Value: `""`, Bound: "1 to 64 bytes"}
	}
	f.calls++
	f.members = append(f.members, tenure.Member{ID: id, Addr: addr, Voter: !nonvoter})
	return f.broken
}

func (f *fake) Remove(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	f.members = slices.DeleteFunc(f.members, func(m tenure.Member) bool { return m.ID == id })
	return f.broken
}

func (f *fake) Transfer(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	for i := range f.members {
		f.members[i].Leader = f.members[i].ID == id
	}
	return f.broken
}
