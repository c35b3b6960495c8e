package holder

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
)

// ErrClosed is the cause of what a call on a closed holder returns, and of the
// gates that Close closed.
var ErrClosed = errors.New("the holder is closed")

// A Holder acquires tenures for one owner, one process incarnation of a
// replica, and keeps them. All methods can be called concurrently.
type Holder struct {
	store   tenure.Store
	owner   string
	clock   tenure.Clock
	log     hclog.Logger
	cadence cadence

	life     context.Context // ends, with ErrClosed as cause, at the call of Close
	end      context.CancelCauseFunc
	running  sync.WaitGroup // the keeper, its calls, and the callers' acquires and forgets
	releases sync.WaitGroup // the callers' releases
	nudged   chan struct{}  // wakes the keeper
	closing  closing

	mu        sync.Mutex
	closed    bool
	leases    map[string]*Lease   // live handles by key, one each
	acquiring map[string]struct{} // keys of acquires on their way
	returns   returns
	renewals  timeline
	deadlines timeline
	calls     int  // renewals on their way, in batches
	troubled  bool // the newest renewal got no answer
	notes     []note
}

// New starts a holder. It sends nothing yet; Close stops it. A malformed
// configuration is a [*tenure.InvalidError].
func New(cfg Config) (*Holder, error) {
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	h := &Holder{
		store:     cfg.Store,
		owner:     cfg.Replica + "/" + newIncarnation(),
		clock:     cfg.Clock,
		log:       cfg.Logger,
		cadence:   newCadence(cfg.TTL, cfg.Margin),
		nudged:    make(chan struct{}, 1),
		closing:   closing{done: make(chan struct{})},
		leases:    make(map[string]*Lease),
		acquiring: make(map[string]struct{}),
		returns:   returns{pending: make(map[string]tenure.Ending)},
	}
	h.life, h.end = context.WithCancelCause(context.Background())
	h.running.Go(h.keep)
	return h, nil
}

// newIncarnation returns the random part of an owner.
func newIncarnation() string { return strings.ToLower(rand.Text()[:incarnationBytes]) }

// Owner returns the owner of all tenures of this holder: the replica, a slash
// and a random incarnation.
func (h *Holder) Owner() string { return h.owner }

// Lookup returns the live handle on a key, if there is one: one whose Done is
// not closed. Its gate may be closed.
func (h *Holder) Lookup(key string) (*Lease, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, ok := h.leases[key]
	return l, ok
}

// Leases returns all live handles, in the order of their keys' bytes.
func (h *Holder) Leases() []*Lease {
	h.mu.Lock()
	leases := make([]*Lease, 0, len(h.leases))
	for _, l := range h.leases {
		leases = append(leases, l)
	}
	h.mu.Unlock()
	slices.SortFunc(leases, func(a, b *Lease) int { return cmp.Compare(a.key, b.key) })
	return leases
}

// enter registers a caller's acquire or forget, and returns its context, which
// ends with the holder's life as well. If the holder is closed, leave is nil.
func (h *Holder) enter(ctx context.Context) (_ context.Context, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ctx, nil
	}
	h.running.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(h.life, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
		h.running.Done()
	}
}
