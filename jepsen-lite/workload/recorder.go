package workload

import (
	"context"
	"errors"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/history"
)

// A recorder is the cluster as a process's holder has it. It writes down what is
// asked before it is sent and what is answered before the holder has it, an
// operation for each key, and stands still while the process does.
type recorder struct {
	process *Process
	late    dawdler
}

// call sends a batch. Its asks are events without an id, and answer makes the
// completion of a granted one.
func (r *recorder) call(ctx context.Context, asks []history.Event, send func(context.Context) []tenure.Result) []tenure.Result {
	p := r.process
	sent, reading := p.cfg.Journal.Now(), p.cfg.Clock.Now() // what comes between this and the request counts as its way
	ctx, cancel := r.dawdle(ctx, asks)
	defer cancel()
	if !p.pass() {
		return refuse(len(asks))
	}
	for i := range asks {
		asks[i].Kind, asks[i].ID = history.Invoke, p.cfg.Journal.NextID()
		p.record(asks[i])
	}
	results := send(ctx)
	if !p.pass() {
		return refuse(len(asks))
	}
	for i, result := range results {
		p.record(completion(asks[i], result))
		if result.Err == nil && (asks[i].F == history.Acquire || asks[i].F == history.Renew) {
			r.recordHold(asks[i], result.Grant, sent, reading)
		}
	}
	return results
}

func refuse(n int) []tenure.Result {
	out := make([]tenure.Result, n)
	for i := range out {
		out[i].Err = &tenure.UnavailableError{MaybeApplied: true, Reason: "no answer", Err: errDead}
	}
	return out
}

// completion makes the event of an answer.
func completion(ask history.Event, r tenure.Result) history.Event {
	e := history.Event{Kind: history.OK, ID: ask.ID, Key: ask.Key, F: ask.F}
	if r.Err == nil {
		g := r.Grant
		e.Epoch, e.TTL, e.Index, e.Forgotten = g.Record.Epoch, g.TTL, g.Index, g.Record.ForgottenAtEpoch
		if ask.F == history.Release || ask.F == history.Forget {
			e.Index = 0 // that of the tenure's last grant, not of this command
		}
		return e
	}
	e.Kind, e.Msg = history.Fail, r.Err.Error()
	var held *tenure.HeldError
	var lost *tenure.LostError
	var unavailable *tenure.UnavailableError
	// Unavailable first: it may have any other error as its cause.
	switch {
	case errors.As(r.Err, &unavailable) && unavailable.MaybeApplied:
		e.Kind, e.Err = history.Info, history.Unavailable
	case errors.As(r.Err, &unavailable):
		e.Err = history.Unavailable
	case errors.As(r.Err, &held):
		e.Err, e.Holder, e.Epoch, e.Held = history.Held, held.Record.Owner, held.Record.Epoch, held.Record.Held
	case errors.As(r.Err, &lost):
		e.Err, e.Holder, e.Epoch, e.Held = history.Lost, lost.Record.Owner, lost.Record.Epoch, lost.Record.Held
	case errors.Is(r.Err, tenure.ErrInvalid):
		e.Err = history.Invalid
	default:
		e.Kind, e.Err = history.Info, history.Unavailable
	}
	return e
}

// recordHold writes down until when the holder may take a grant for held, by
// the rule of the design and not by the holder's own reckoning.
func (r *recorder) recordHold(ask history.Event, g tenure.Grant, sent, reading time.Duration) {
	p := r.process
	lasts := min(ask.TTL, g.TTL)
	margin := time.Duration(p.cfg.Plan.Margin)
	if lasts > p.ttl() { // clocks drift further apart in it
		margin = time.Duration(float64(margin) * float64(lasts) / float64(p.ttl()))
	}
	until := reading + lasts - margin
	e := history.Event{
		Kind: history.Hold, Key: ask.Key, Owner: ask.Owner, Epoch: g.Record.Epoch, Index: g.Index,
		Sent: sent, Reading: p.cfg.Clock.Now(), Until: until,
	}
	now := p.cfg.Journal.Now()
	left, ever := p.cfg.Clock.After(until)
	if left == 0 && ever {
		return // eaten by the round trip: it opens no gate
	}
	if ever {
		e.Fence = now + left
	}
	r.late.granted(e)
	p.record(e)
}

// Acquire implements tenure.Store.
func (r *recorder) Acquire(ctx context.Context, req tenure.AcquireRequest) []tenure.Result {
	asks := make([]history.Event, len(req.Asks))
	for i, a := range req.Asks {
		asks[i] = history.Event{F: history.Acquire, Key: a.Key, Owner: req.Owner, Req: a.RequestID, TTL: a.TTL, Wait: a.Wait}
	}
	return r.call(ctx, asks, func(ctx context.Context) []tenure.Result { return r.process.cfg.Store.Acquire(ctx, req) })
}

// Renew implements tenure.Store.
func (r *recorder) Renew(ctx context.Context, req tenure.RenewRequest) []tenure.Result {
	asks := make([]history.Event, len(req.Renewals))
	for i, n := range req.Renewals {
		asks[i] = history.Event{F: history.Renew, Key: n.Key, Owner: req.Owner, Epoch: n.Epoch, TTL: n.TTL}
	}
	return r.call(ctx, asks, func(ctx context.Context) []tenure.Result { return r.process.cfg.Store.Renew(ctx, req) })
}

// Release implements tenure.Store.
func (r *recorder) Release(ctx context.Context, req tenure.ReleaseRequest) []tenure.Result {
	asks := make([]history.Event, len(req.Endings))
	for i, e := range req.Endings {
		asks[i] = history.Event{F: history.Release, Key: e.Key, Owner: req.Owner, Epoch: e.Epoch, Req: e.RequestID, Forget: req.Forget}
	}
	return r.call(ctx, asks, func(ctx context.Context) []tenure.Result { return r.process.cfg.Store.Release(ctx, req) })
}

// Forget implements tenure.Store.
func (r *recorder) Forget(ctx context.Context, req tenure.ForgetRequest) []tenure.Result {
	asks := make([]history.Event, len(req.Tenures))
	for i, t := range req.Tenures {
		asks[i] = history.Event{F: history.Forget, Key: t.Key, Owner: req.Owner, Epoch: t.Epoch}
	}
	return r.call(ctx, asks, func(ctx context.Context) []tenure.Result { return r.process.cfg.Store.Forget(ctx, req) })
}
