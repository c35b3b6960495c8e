package report

import (
	"fmt"
	"hash/fnv"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
)

// ownership returns the bars of each key: tenures as holders told them, or what
// is known of a fleet's from its answers.
func (tl *timeline) ownership(h *history.History) map[string][]bar {
	bars := make(map[string][]bar)
	for key, tenures := range check.Tenures(h) {
		for _, t := range tenures {
			b := tl.owned(t.Owner, t.Epoch, t.From, t.To)
			b.Title = fmt.Sprintf("%s held %s at epoch %d from %v to %v: %d grants, %d passes of the gate, %d acknowledgements",
				t.Owner, t.Key, t.Epoch, t.From, t.To, len(t.Holds), len(t.Gates), len(t.Acks))
			bars[key] = append(bars[key], b)
		}
	}
	for key, reigns := range check.ReignsOf(h) {
		for _, r := range reigns {
			b := tl.owned(r.Owner, r.Epoch, r.From, r.To)
			b.Title = fmt.Sprintf("%s answered for %s at epoch %d, asked from %v on and to %v: %d answers", r.Owner, r.Key, r.Epoch, r.From, r.To, r.Answers)
			bars[key] = append(bars[key], b)
		}
	}
	return bars
}

func (tl *timeline) owned(owner string, epoch uint64, from, to time.Duration) bar {
	b := bar{X: tl.x(from), W: tl.w(from, to), Colour: colour(owner)}
	b.Full = fmt.Sprintf("%d %s", epoch, owner)
	if b.W > 26 {
		b.Text = fmt.Sprintf("%d", epoch)
	}
	if b.W > 80 {
		b.Text = fmt.Sprintf("%d %.*s", epoch, int(b.W/7)-4, owner)
	}
	return b
}

// colour gives a name a colour of its own, as far as there are enough.
func colour(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return fmt.Sprintf("hsl(%d 55%% %d%%)", h.Sum32()%360, 62+h.Sum32()/360%3*7)
}
