package holder

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A timeline gives out what is due, the earliest first, whatever was moved or
// taken out before.
func TestTimelineGivesTheEarliest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var line timeline
		marks := make([]mark, 12)
		due := make(map[*Lease]time.Duration)
		for i := range marks {
			marks[i].lease = &Lease{}
		}
		earliest := func() (at time.Duration, ok bool) {
			for _, d := range due {
				if !ok || d < at {
					at, ok = d, true
				}
			}
			return at, ok
		}
		one := func(t *rapid.T) *mark { return &marks[rapid.IntRange(0, len(marks)-1).Draw(t, "mark")] }
		instant := rapid.Map(rapid.IntRange(0, 9), func(n int) time.Duration { return time.Duration(n) })
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				at, ok := line.earliest()
				if want, has := earliest(); at != want || ok != has {
					t.Fatalf("the earliest is %v, %t, want %v, %t", at, ok, want, has)
				}
				if len(line.moments) != len(line.at) {
					t.Fatalf("%d moments, %d of them by instant", len(line.moments), len(line.at))
				}
			},
			"set": func(t *rapid.T) {
				m, at := one(t), instant.Draw(t, "at")
				was, stays := due[m.lease]
				stays = stays && was == at
				delete(due, m.lease)
				before, any := earliest()
				due[m.lease] = at
				if first := line.set(m, at); first != (!stays && (!any || at < before)) {
					t.Fatalf("set at %v reports %t, the earliest of the others is %v, %t", at, first, before, any)
				}
			},
			"remove": func(t *rapid.T) {
				m := one(t)
				line.remove(m)
				delete(due, m.lease)
			},
			"due": func(t *rapid.T) {
				now := instant.Draw(t, "now")
				l := line.due(now)
				want, ok := earliest()
				if (l != nil) != (ok && want <= now) || l != nil && due[l] != want {
					t.Fatalf("due at %v is %v (%v), the earliest is %v, %t", now, l, due[l], want, ok)
				}
				delete(due, l)
			},
		})
	})
}
