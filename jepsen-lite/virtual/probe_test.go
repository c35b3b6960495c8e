package virtual

import (
	"testing"
	"testing/synctest"
	"time"
)

// A probe confirms a link that does what its faults say.
func TestProbeOfALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewNet(1)
		confirmed := func() {
			t.Helper()
			if err := n.Probe("a", "b"); err != nil {
				t.Error(err)
			}
		}
		confirmed()
		slow := n.Slow("a", "b", 20*time.Millisecond, 30*time.Millisecond)
		confirmed()
		slower := n.Slow("a", "b", time.Minute, time.Minute)
		throttled := n.Throttle("a", "b", 10<<10)
		confirmed()
		slower()
		confirmed()
		n.Cut("a", "b")
		confirmed()
		throttled()
		slow()
		n.Heal("a", "b")
		confirmed()
	})
}

// A probe does not confirm what a link does not do.
func TestProbeSeesALinkThatLies(t *testing.T) {
	for _, c := range []struct {
		name   string
		says   link
		took   time.Duration
		passed bool
	}{
		{"cut, and passes", link{cuts: 1}, latency, true},
		{"healed, and passes nothing", link{}, 0, false},
		{"slow, and passes at once", link{delay: time.Second}, latency, true},
		{"throttled, and passes at once", link{throttles: []int{1 << 10}}, latency, true},
	} {
		if err := c.says.confirm(c.took, c.passed); err == nil {
			t.Errorf("%s: it was confirmed", c.name)
		}
	}
}

// A probe does not confirm what a disk does not do.
func TestProbeSeesADiskThatLies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		works := NewDisk(1, func(uint64) {}, func() {})
		for name, says := range map[string]ailment{
			"failing": {failing: 1}, "full": {full: 1}, "hung": {hung: 1}, "slow": {delay: time.Millisecond},
		} {
			if works.probe(says) == nil {
				t.Errorf("%s, and it works: it was confirmed", name)
			}
		}
		hangs := NewDisk(1, func(uint64) {}, func() {})
		defer hangs.Hang()()
		if hangs.probe(ailment{}) == nil {
			t.Error("healed, and it hangs: it was confirmed")
		}
		full := NewDisk(1, func(uint64) {}, func() {})
		defer full.Fill()()
		if full.probe(ailment{failing: 1}) == nil {
			t.Error("failing, and it is full: it was confirmed")
		}
	})
}
