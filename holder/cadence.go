package holder

import (
	"math/rand/v2"
	"time"
)

// Bounds of what a cadence derives.
const (
	beatsPerPeriod = 16               // instants in a period at which renewals are sent
	shortestPeriod = time.Millisecond // however small TTL minus margin is
	longestAttempt = 10 * time.Second // a first attempt at anything
	longestBackoff = 5 * time.Second
	longestTryBeat = 250 * time.Millisecond // between the beats of renewals that failed
)

// A cadence is every duration that a holder derives from its TTL and margin.
//
// A renewal is due a period after the one before it was sent, and gets a
// period to be answered. Three eighths of what a grant leaves to use is the
// most that lets one attempt hang, be given up and be followed by another,
// before the fence.
type cadence struct {
	ttl    time.Duration
	margin time.Duration
	usable time.Duration // what a grant leaves to use, if no time passes on the way
	period time.Duration // from renewal to renewal: a third of the TTL, less if the margin is great
	// Renewals are sent on beats only, which lie at phase + n*beat: that is
	// what makes batches of them, while the keys of one acquire are spread over
	// all beats of a period. The phase keeps the holders of a fleet that was
	// started at once apart.
	beat  time.Duration
	phase time.Duration
}

func newCadence(ttl, margin time.Duration) cadence {
	c := cadence{ttl: ttl, margin: margin, usable: ttl - margin}
	c.period = max(min(ttl/3, c.usable*3/8), shortestPeriod)
	c.beat = c.period / beatsPerPeriod
	c.phase = rand.N(c.beat)
	return c
}

// fence returns where the fence of a grant lies. The smaller of the granted
// and the asked TTL counts, so that the margin keeps its share of it.
func (c *cadence) fence(sentAt, granted time.Duration) time.Duration {
	return sentAt + min(granted, c.ttl) - c.margin
}

// firstRenewal returns when the first renewal of a tenure is due: anywhere in
// the period, so that the keys of one acquire don't stay together.
func (c *cadence) firstRenewal(sentAt time.Duration) time.Duration {
	return c.onBeat(sentAt + c.period/4 + rand.N(c.period*3/4))
}

// nextRenewal returns when the renewal after one that was sent at sentAt is
// due: 14 or 15 beats later. The jitter parts again what met on one beat.
func (c *cadence) nextRenewal(sentAt time.Duration) time.Duration {
	return c.onBeat(sentAt + c.period - rand.N(2*c.beat))
}

// nextTry returns when a renewal that failed for the nth time in a row is due
// again: on a beat as well, or an outage would make many small batches of what
// were few.
func (c *cadence) nextTry(now time.Duration, n int) time.Duration {
	grid := min(c.beat, longestTryBeat)
	at := now + c.backoff(n) + grid
	return at - (at-c.phase)%grid
}

// onBeat returns the beat at or before an instant.
func (c *cadence) onBeat(at time.Duration) time.Duration {
	return at - (at-c.phase)%c.beat
}

// backoff returns how long to wait after the nth failure in a row, counted
// from 1.
func (c *cadence) backoff(n int) time.Duration {
	d := min(double(c.ttl/64, n-1), c.ttl/8, longestBackoff)
	return d/2 + rand.N(d/2)
}

// renewalTimeout returns how long a renewal may take. Within the fence it is
// short enough for another attempt, past it there is nothing to hurry for:
// each attempt that is not answered, counted by late, makes the next one
// longer, until it is longer than a TTL. A store that slow does extend the
// tenure with every attempt, so its answers have to be heard: they tell the
// holder to let go of a key which it can't serve.
func (c *cadence) renewalTimeout(late int) time.Duration {
	return min(double(min(c.period, longestAttempt), late), c.ttl*4/3)
}

// callTimeout returns how long the nth attempt, counted from 0, at an acquire,
// a release or a forget may take. It grows for the same reason: a store whose
// answers take longer than a grant lasts should be heard saying so.
func (c *cadence) callTimeout(n int) time.Duration {
	return min(double(min(c.ttl*9/20, longestAttempt), n), 2*c.ttl)
}

// double returns d doubled n times, at most a day.
func double(d time.Duration, n int) time.Duration {
	const day = 24 * time.Hour
	for ; n > 0 && d < day; n-- {
		d *= 2
	}
	return min(d, day)
}
