package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
)

// What one page bears. What is cut is said on it.
const (
	mostKeys    = 64
	mostBars    = 12000 // in all, shared out evenly among the keys
	mostFaults  = 600
	mostRows    = 8 // of faults that stand at the same time
	leastWidth  = 1100
	mostWidth   = 24000
	perSecond   = 28 // pixels
	laneHeight  = 26
	faultHeight = 16
)

// A timeline is the ownership of keys over time, with the faults behind it.
// All lengths are in pixels.
type timeline struct {
	Width, Height, Top int
	Ticks              []tick
	Bands              []band // faults, behind the lanes
	Faults             []bar  // the same, by name, in rows above the lanes
	Lanes              []lane
	Leaders            []bar
	Marks              []mark // violations
	Cut                []string
	scale              float64 // pixels a nanosecond
	end                time.Duration
}

type tick struct {
	X    float64
	Text string
}

type band struct{ X, W float64 }

type bar struct {
	X, W, Y float64
	Colour  string
	Text    string
	Full    string // what Text is if there is room for it
	Title   string
}

type lane struct {
	Y    int
	Key  string
	Bars []bar
}

type mark struct {
	X, W  float64
	Y, H  int
	ID    string
	Title string
}

func (r *Report) timeline() *timeline {
	h := r.history
	tl := &timeline{end: lastOfRun(h)}
	tl.Width = min(mostWidth, max(leastWidth, int(tl.end.Seconds()*perSecond)))
	tl.scale = float64(tl.Width) / float64(max(1, tl.end))
	tl.ticks()
	rows := tl.faults(h)
	tl.Top = 34 + rows*faultHeight + 22
	tl.leaders(h)
	tl.lanes(h, r.Explanations)
	tl.Height = tl.Top + len(tl.Lanes)*laneHeight + 8
	tl.marks(r.Explanations)
	return tl
}

// lastOfRun is the last instant of which there is something to draw. What is
// written down when all is over has an instant, too, which tells nothing.
func lastOfRun(h *history.History) time.Duration {
	var last time.Duration
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case history.Log, history.Leak, history.End, history.Note:
		default:
			last = max(last, e.T, min(e.Fence, e.T+h.Terms.TTL))
		}
	}
	return last + time.Millisecond
}

func (tl *timeline) x(t time.Duration) float64 { return float64(min(t, tl.end)) * tl.scale }

func (tl *timeline) w(from, to time.Duration) float64 { return max(1.5, tl.x(to)-tl.x(from)) }

func (tl *timeline) ticks() {
	step := time.Second
	for _, s := range []time.Duration{2, 5, 10, 30, 60, 300, 600, 1800, 3600, 4 * 3600, 24 * 3600} {
		if float64(step)*tl.scale >= 60 {
			break
		}
		step = s * time.Second
	}
	for t := time.Duration(0); t <= tl.end; t += step {
		tl.Ticks = append(tl.Ticks, tick{tl.x(t), t.String()})
	}
}

// faults puts each fault into the first row that is free, and returns how many
// rows there are.
func (tl *timeline) faults(h *history.History) int {
	var rows []float64 // where each row's last fault and its text end
	for _, s := range h.Faults {
		text := s.Event.F + " " + short(s.Event.Targets)
		x, w := tl.x(s.From), tl.w(s.From, s.To)
		tl.band(x, w)
		row := slices.IndexFunc(rows, func(end float64) bool { return end <= x })
		if row < 0 && len(rows) < mostRows {
			row = len(rows)
			rows = append(rows, 0)
		}
		if row < 0 || len(tl.Faults) == mostFaults {
			continue
		}
		rows[row] = x + max(w, float64(len(text))*6.2) + 4
		tl.Faults = append(tl.Faults, bar{
			X: x, W: w, Y: float64(30 + row*faultHeight), Colour: "#d9822b", Text: text,
			Title: fmt.Sprintf("%s of %v from %v to %v", s.Event.F, s.Event.Targets, s.From, min(s.To, tl.end)),
		})
	}
	if cut := len(h.Faults) - len(tl.Faults); cut > 0 {
		tl.Cut = append(tl.Cut, fmt.Sprintf("%d of %d faults are not named", cut, len(h.Faults)))
	}
	return max(1, len(rows))
}

// band shades the time of a fault. Faults come by their beginning, so that
// those which overlap make one band.
func (tl *timeline) band(x, w float64) {
	if n := len(tl.Bands); n > 0 && x <= tl.Bands[n-1].X+tl.Bands[n-1].W {
		last := &tl.Bands[n-1]
		last.W = max(last.W, x+w-last.X)
		return
	}
	tl.Bands = append(tl.Bands, band{x, w})
}

func short(targets []string) string {
	if len(targets) > 2 {
		return fmt.Sprintf("%s, %s and %d more", targets[0], targets[1], len(targets)-2)
	}
	return fmt.Sprint(targets)
}

func (tl *timeline) leaders(h *history.History) {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Leader {
			continue
		}
		if n := len(tl.Leaders); n > 0 {
			tl.Leaders[n-1].W = max(1.5, tl.x(e.T)-tl.Leaders[n-1].X)
		}
		tl.Leaders = append(tl.Leaders, bar{
			X: tl.x(e.T), W: max(1.5, float64(tl.Width)-tl.x(e.T)), Y: float64(tl.Top - 20), Colour: colour(e.Node), Text: e.Node,
			Title: fmt.Sprintf("%s leads in term %d from %v", e.Node, e.Term, e.T),
		})
	}
}

// lanes draws a row a key, those of violations first if not all fit.
func (tl *timeline) lanes(h *history.History, violations []check.Explanation) {
	owned := tl.ownership(h)
	keys := make([]string, 0, len(owned))
	for key := range owned {
		keys = append(keys, key)
	}
	accused := make(map[string]bool)
	for _, v := range violations {
		accused[v.Key] = true
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(accused[a]), rank(accused[b])), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	if len(keys) > mostKeys {
		tl.Cut = append(tl.Cut, fmt.Sprintf("%d of %d keys are not drawn", len(keys)-mostKeys, len(keys)))
		keys = keys[:mostKeys]
	}
	drawn, dropped := 0, 0
	for i, key := range keys {
		l := lane{Y: tl.Top + i*laneHeight, Key: key}
		for _, b := range owned[key] {
			if len(l.Bars) == mostBars/len(keys) {
				dropped++
				continue
			}
			drawn++
			b.Y = float64(l.Y + 4)
			l.Bars = append(l.Bars, b)
		}
		tl.Lanes = append(tl.Lanes, l)
	}
	if dropped > 0 {
		tl.Cut = append(tl.Cut, fmt.Sprintf("%d of %d tenures are not drawn", dropped, drawn+dropped))
	}
}

func rank(accused bool) int {
	if accused {
		return 0
	}
	return 1
}

// marks draws each violation over its key, or over all keys.
func (tl *timeline) marks(violations []check.Explanation) {
	for i, v := range violations {
		m := mark{
			X: tl.x(v.From), W: max(3, tl.w(v.From, v.To)), Y: tl.Top, H: max(laneHeight, len(tl.Lanes)*laneHeight),
			ID: fmt.Sprintf("v%d", i+1), Title: v.Sentence,
		}
		for _, l := range tl.Lanes {
			if l.Key == v.Key {
				m.Y, m.H = l.Y, laneHeight
			}
		}
		tl.Marks = append(tl.Marks, m)
	}
}
