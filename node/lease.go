package node

import (
	"context"

	"example.com/tenure"
)

var (
	_ tenure.Store = (*Node)(nil)
	_ tenure.Store = (*Client)(nil)
)

// verbs are the methods of a store, over a router.
type verbs struct{ router router }

// Acquire implements [tenure.Store].
func (v *verbs) Acquire(ctx context.Context, req tenure.AcquireRequest) []tenure.Result {
	return v.router.route(ctx, acquireBatch(req))
}

// Renew implements [tenure.Store].
func (v *verbs) Renew(ctx context.Context, req tenure.RenewRequest) []tenure.Result {
	return v.router.route(ctx, renewBatch(req))
}

// Release implements [tenure.Store]. It is not sent again once it may have been
// applied. Where it also forgets, the two are invalid, applied or of unknown
// outcome as one.
func (v *verbs) Release(ctx context.Context, req tenure.ReleaseRequest) []tenure.Result {
	b, at := releaseBatch(req)
	all := v.router.route(ctx, b)
	results := make([]tenure.Result, len(at))
	for i, place := range at {
		results[i] = all[place]
	}
	return results
}

// Forget implements [tenure.Store]. After an attempt of unknown outcome it is
// lost only if the key's record shows that nothing was forgotten.
func (v *verbs) Forget(ctx context.Context, req tenure.ForgetRequest) []tenure.Result {
	return v.router.route(ctx, forgetBatch(req))
}
