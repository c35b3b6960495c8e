package httpapi

import (
	"fmt"

	"example.com/tenure"
)

// acquire answers POST /v1/acquire, in both its forms.
func (s *server) acquire(r *request) (any, error) {
	var body AcquireRequest
	if err := read(r, &body); err != nil {
		return nil, err
	}
	spans, err := s.spans(body.Owner, body.TTLMillis, body.WaitMillis)
	if err != nil {
		return nil, about(body.Key, err)
	}
	asks, err := body.asks(spans)
	if err != nil {
		return nil, err
	}
	ctx, cancel := bounded(r, spans.wait)
	defer cancel()
	results := s.backend.Acquire(ctx, tenure.AcquireRequest{Owner: body.Owner, Asks: asks})
	if body.Keys == nil {
		return s.one(spans, results)
	}
	return s.many(spans, results, len(asks))
}

// asks returns the keys of either form.
func (b *AcquireRequest) asks(spans spans) ([]tenure.Ask, error) {
	if b.Keys == nil {
		return []tenure.Ask{{Key: b.Key, RequestID: b.RequestID, TTL: spans.ttl, Wait: spans.wait}}, nil
	}
	switch {
	case b.Key != "":
		return nil, invalid("key", shown([]byte(b.Key)), "left out where keys are given")
	case b.RequestID != "":
		return nil, invalid("request_id", shown([]byte(b.RequestID)), "left out where keys are given, which have one each")
	}
	asks := make([]tenure.Ask, len(b.Keys))
	for i, k := range b.Keys {
		asks[i] = tenure.Ask{Key: k.Key, RequestID: k.RequestID, TTL: spans.ttl, Wait: spans.wait}
	}
	return asks, nil
}

// renew answers POST /v1/renew.
func (s *server) renew(r *request) (any, error) {
	var body RenewRequest
	if err := read(r, &body); err != nil {
		return nil, err
	}
	spans, err := s.spans(body.Owner, body.TTLMillis, 0)
	if err != nil {
		return nil, err
	}
	if body.Tenures == nil {
		return nil, noTenures()
	}
	renewals := make([]tenure.Renewal, len(body.Tenures))
	for i, t := range body.Tenures {
		renewals[i] = tenure.Renewal{Key: t.Key, Epoch: uint64(t.Epoch), TTL: spans.ttl}
	}
	ctx, cancel := bounded(r, 0)
	defer cancel()
	return s.many(spans, s.backend.Renew(ctx, tenure.RenewRequest{Owner: body.Owner, Renewals: renewals}), len(renewals))
}

// release answers POST /v1/release.
func (s *server) release(r *request) (any, error) {
	var body ReleaseRequest
	if err := read(r, &body); err != nil {
		return nil, err
	}
	if err := tenure.ValidateOwner(body.Owner); err != nil {
		return nil, err
	}
	if body.Tenures == nil {
		return nil, noTenures()
	}
	endings := make([]tenure.Ending, len(body.Tenures))
	for i, t := range body.Tenures {
		if body.Forget && t.RequestID != "" {
			return nil, invalid(fmt.Sprintf("tenures[%d].request_id", i), shown([]byte(t.RequestID)), "left out where forget is true: it takes an epoch to forget")
		}
		endings[i] = tenure.Ending{Key: t.Key, Epoch: uint64(t.Epoch), RequestID: t.RequestID}
	}
	ctx, cancel := bounded(r, 0)
	defer cancel()
	return s.many(spans{}, s.backend.Release(ctx, tenure.ReleaseRequest{Owner: body.Owner, Endings: endings, Forget: body.Forget}), len(endings))
}

func noTenures() error {
	return invalid("tenures", "left out", "an array of tenures, which may be empty")
}

// forget answers POST /v1/forget.
func (s *server) forget(r *request) (any, error) {
	var body ForgetRequest
	if err := read(r, &body); err != nil {
		return nil, err
	}
	if err := tenure.ValidateOwner(body.Owner); err != nil {
		return nil, about(body.Key, err)
	}
	ctx, cancel := bounded(r, 0)
	defer cancel()
	tenures := []tenure.Tenure{{Key: body.Key, Epoch: uint64(body.Epoch)}}
	return s.one(spans{}, s.backend.Forget(ctx, tenure.ForgetRequest{Owner: body.Owner, Tenures: tenures}))
}

// one returns the answer to a request for one key.
func (s *server) one(spans spans, results []tenure.Result) (any, error) {
	if len(results) != 1 {
		return nil, miscounted(len(results), 1)
	}
	if err := results[0].Err; err != nil {
		return nil, s.named(spans, err)
	}
	return GrantOf(results[0].Grant), nil
}

// many returns the answer to a request of many items.
func (s *server) many(spans spans, results []tenure.Result, want int) (any, error) {
	if len(results) != want {
		return nil, miscounted(len(results), want)
	}
	answer := Results{Results: make([]Result, len(results))}
	for i, result := range results {
		if result.Err != nil {
			answer.Results[i] = Result{Err: s.named(spans, result.Err)}
			continue
		}
		answer.Results[i] = Result{Grant: GrantOf(result.Grant)}
	}
	return answer, nil
}

func miscounted(got, want int) error {
	return &tenure.UnavailableError{MaybeApplied: true, Reason: fmt.Sprintf("the node gave %d results for %d items", got, want)}
}
