package workload

import (
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A renewal that is held back is sent shortly before the fence of the grant
// before; nothing else is held back.
func TestDawdling(t *testing.T) {
	const ms = time.Millisecond
	d := &dawdler{}
	d.granted(history.Event{Key: "late", Epoch: 3, Index: 2 * dawdleOne, Sent: 100 * ms, Fence: 1100 * ms})
	d.granted(history.Event{Key: "later", Epoch: 3, Index: dawdleOne, Sent: 200 * ms, Fence: 1200 * ms})
	d.granted(history.Event{Key: "prompt", Epoch: 3, Index: dawdleOne + 1, Sent: 100 * ms, Fence: 1100 * ms})
	renew := func(key string, epoch uint64) history.Event {
		return history.Event{F: history.Renew, Key: key, Epoch: epoch}
	}
	late := renew("late", 3)
	for _, c := range []struct {
		name string
		asks []history.Event
		now  time.Duration
		want time.Duration
	}{
		{"late", []history.Event{late}, 400 * ms, 616 * ms},
		{"the sooner of two", []history.Event{renew("later", 3), late}, 400 * ms, 616 * ms},
		{"the time has come", []history.Event{late}, 1060 * ms, 0},
		{"another tenure", []history.Event{renew("late", 4)}, 400 * ms, 0},
		{"a prompt one", []history.Event{renew("prompt", 3)}, 400 * ms, 0},
		{"with a prompt one", []history.Event{late, renew("prompt", 3)}, 400 * ms, 0},
		{"no grant yet", []history.Event{renew("new", 1)}, 400 * ms, 0},
		{"a release", []history.Event{{F: history.Release, Key: "late", Epoch: 3}}, 400 * ms, 0},
		{"many", []history.Event{late, late, late, late, late}, 400 * ms, 0},
	} {
		got := d.wait(c.asks, c.now)
		if got.Truncate(ms) != c.want {
			t.Errorf("%s: held back for %v, want %v", c.name, got, c.want)
		}
		if again := d.wait(c.asks, c.now); got > 0 && again != 0 {
			t.Errorf("%s: a second one is held back for %v at the same time", c.name, again)
		}
		d.done()
	}
}
