package leader

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure/fsm"
)

// A keeper is an owner with a batch of tenures.
func (b *bench) keeper(owner string, n int, ttl time.Duration) *Request {
	b.t.Helper()
	acquires := &Request{}
	for i := range n {
		acquires.Commands = append(acquires.Commands, fsm.Command{Kind: fsm.Acquire, Key: fmt.Sprint(owner, i), Owner: owner, RequestID: "1", TTL: ttl})
	}
	renewals := &Request{}
	for i, r := range <-b.submit(acquires) {
		if r.Err != nil {
			b.t.Fatal(r.Err)
		}
		renewals.Commands = append(renewals.Commands, fsm.Command{Kind: fsm.Renew, Key: fmt.Sprint(owner, i), Owner: owner, Epoch: r.Grant.Record.Epoch, TTL: ttl})
	}
	return renewals
}

// Batches of renewals wait for each other, no longer than a small part of their
// TTL, and for nothing that somebody waits for.
func TestBatchesOfRenewalsShareAnEntry(t *testing.T) {
	for _, c := range []struct {
		name    string
		batch   int
		ttl     time.Duration
		between func(b *bench) // happens 1 ms after the first batch has come
		entries int
		took    time.Duration // for the first batch
	}{
		{"two batches", 100, time.Minute, func(*bench) {}, 1, lingerMost},
		{"a short TTL", 100, 2500 * time.Millisecond, func(*bench) {}, 1, 10 * time.Millisecond},
		{"an acquire takes them along", 100, time.Minute, func(b *bench) { b.must(acquire("k", "o", "1", time.Minute, 0)) }, 2, time.Millisecond},
		{"few do not wait", lingerBatch - 1, time.Minute, func(*bench) {}, 2, 0},
		{"enough do not wait", lingerQueue, time.Minute, func(*bench) {}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				first, second := b.keeper("a", c.batch, c.ttl), b.keeper("b", c.batch, c.ttl)
				before, start := b.proposed(), time.Now()
				answer := b.submit(first)
				time.Sleep(time.Millisecond)
				c.between(b)
				again := b.submit(second)
				if r := (<-answer)[0]; r.Err != nil {
					t.Fatal(r.Err)
				}
				if took := time.Since(start); took != max(c.took, time.Millisecond) {
					t.Errorf("the first batch was answered after %v, want %v", took, c.took)
				}
				<-again
				if n := b.proposed() - before; n != c.entries {
					t.Errorf("%d entries, want %d", n, c.entries)
				}
			})
		})
	}
}

// A batch with a release in it does not wait.
func TestReleasesDoNotLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		batch := b.keeper("a", 100, time.Minute)
		batch.Commands[99].Kind = fsm.Release
		start := time.Now()
		<-b.submit(batch)
		if took := time.Since(start); took != 0 {
			t.Errorf("answered after %v, want at once", took)
		}
	})
}
