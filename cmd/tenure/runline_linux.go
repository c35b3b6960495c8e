package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.com/tenure"
)

// A line is a store in which a holder stands in line only until an instant. A
// holder's own wait ends with its context, so that an answer which is a moment
// late can't be told from none.
type line struct {
	tenure.Store
	until time.Time
	leave func() // ends the holder's acquire
}

// Acquire asks the store, and leaves the line after a refusal past the instant.
func (l *line) Acquire(ctx context.Context, req tenure.AcquireRequest) []tenure.Result {
	req.Asks = slices.Clone(req.Asks)
	for i, ask := range req.Asks {
		left := max(0, time.Until(l.until)).Truncate(time.Millisecond)
		req.Asks[i].Wait = min(ask.Wait, left)
	}
	results := l.Store.Acquire(ctx, req)
	for _, r := range results {
		// The wait was cut to whole milliseconds.
		if errors.Is(r.Err, tenure.ErrHeld) && l.leave != nil && time.Until(l.until) <= time.Millisecond {
			l.leave()
		}
	}
	return results
}
