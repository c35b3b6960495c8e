package node

import (
	"context"
	"sync"

	"example.com/tenure"
)

// Bounds of one request; a larger batch goes in several.
const (
	partCommands = 16384
	partBytes    = 4 << 20
)

// leaseInParts sends a batch in requests that are not too large: one after the
// other, as the caller gave them, but those that wait in line all at once.
func leaseInParts(ctx context.Context, way leaser, b batch) []tenure.Result {
	ends := b.parts()
	if len(ends) == 1 {
		return way.lease(ctx, b)
	}
	results := make([]tenure.Result, len(b.commands))
	var wg sync.WaitGroup
	from := 0
	for _, to := range ends {
		part := batch{commands: b.commands[from:to]}
		if b.waits != nil {
			part.waits = b.waits[from:to]
		}
		into := results[from:to]
		from = to
		if part.waits == nil {
			copy(into, way.lease(ctx, part))
			continue
		}
		wg.Go(func() { copy(into, way.lease(ctx, part)) })
	}
	wg.Wait()
	return results
}

// parts returns where each request's commands end. None ends between commands
// that go as one: the leader may be lost between two requests.
func (b batch) parts() (ends []int) {
	from, bytes := 0, 0
	for i := 0; i < len(b.commands); {
		end := b.unit(i)
		size := 0
		for _, c := range b.commands[i:end] {
			size += len(c.Key) + len(c.Owner) + len(c.RequestID) + 32
		}
		if i > from && (end-from > partCommands || bytes+size > partBytes) {
			ends = append(ends, i)
			from, bytes = i, 0
		}
		bytes += size
		i = end
	}
	return append(ends, len(b.commands))
}
