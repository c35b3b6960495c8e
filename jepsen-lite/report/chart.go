package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

const (
	chartHeight = 90
	mostBuckets = 400
)

// A chart is latency and availability over time, in buckets of equal length.
type chart struct {
	Height  int
	Bucket  time.Duration
	Median  string // points of a polyline
	High    string // of the 99th percentile
	Slowest time.Duration
	Owned   string // points of a polyline: which share of the keys that are drawn had an owner
	Stacks  []stack
	Most    int // operations in a bucket
}

// A stack is the outcomes of a bucket's operations, as heights of a column.
type stack struct {
	X, W               float64
	OK, Fail, Info     float64 // heights
	OKY, FailY, InfoY  float64 // upper ends
	Title              string
	ok, fail, info     int
	took               []time.Duration
	median, percentile time.Duration
}

// chart counts the operations that the store was asked for.
func (r *Report) chart(tl *timeline) *chart {
	c := &chart{Height: chartHeight, Bucket: time.Second}
	for tl.end/c.Bucket >= mostBuckets {
		c.Bucket *= 2
	}
	c.Stacks = make([]stack, tl.end/c.Bucket+1)
	for i := range r.history.Ops {
		op := &r.history.Ops[i]
		switch op.Invoke.F {
		case history.Acquire, history.Renew, history.Release, history.Forget, history.Get:
			if at := op.Call / c.Bucket; int(at) < len(c.Stacks) {
				c.Stacks[at].count(op)
			}
		}
	}
	for i := range c.Stacks {
		c.Stacks[i].measure()
		c.Most = max(c.Most, c.Stacks[i].ok+c.Stacks[i].fail+c.Stacks[i].info)
		c.Slowest = max(c.Slowest, c.Stacks[i].percentile)
	}
	c.draw(tl)
	c.owned(tl)
	c.Slowest = c.Slowest.Round(time.Millisecond)
	return c
}

func (s *stack) count(op *history.Op) {
	switch op.Outcome {
	case history.OK:
		s.ok++
	case history.Fail:
		s.fail++
	default:
		s.info++
		return
	}
	if op.Invoke.Wait == 0 { // waiting in line is no latency
		s.took = append(s.took, op.Return-op.Call)
	}
}

func (s *stack) measure() {
	if len(s.took) == 0 {
		return
	}
	slices.Sort(s.took)
	s.median, s.percentile = s.took[len(s.took)/2], s.took[len(s.took)*99/100]
}

func (c *chart) draw(tl *timeline) {
	var median, high strings.Builder
	for i := range c.Stacks {
		s := &c.Stacks[i]
		from := time.Duration(i) * c.Bucket
		s.X, s.W = tl.x(from), max(1, tl.x(from+c.Bucket)-tl.x(from)-1)
		unit := float64(chartHeight) / float64(max(1, c.Most))
		s.OK, s.Fail, s.Info = float64(s.ok)*unit, float64(s.fail)*unit, float64(s.info)*unit
		s.OKY = chartHeight - s.OK
		s.FailY = s.OKY - s.Fail
		s.InfoY = s.FailY - s.Info
		s.Title = fmt.Sprintf("%v: %d ok, %d refused or failed, %d unknown; median %v, 99th percentile %v", from, s.ok, s.fail, s.info, s.median, s.percentile)
		if len(s.took) == 0 {
			continue
		}
		fmt.Fprintf(&median, "%.1f,%.1f ", s.X+s.W/2, c.latency(s.median))
		fmt.Fprintf(&high, "%.1f,%.1f ", s.X+s.W/2, c.latency(s.percentile))
	}
	c.Median, c.High = median.String(), high.String()
}

func (c *chart) latency(d time.Duration) float64 {
	return chartHeight - float64(d)/float64(max(1, c.Slowest))*(chartHeight-6)
}

// owned draws which share of the keys had an owner in the middle of each
// bucket.
func (c *chart) owned(tl *timeline) {
	owned := make([]int, len(c.Stacks))
	bucket := tl.x(c.Bucket)
	for _, l := range tl.Lanes {
		last := -1 // bars of a key may overlap
		for _, b := range l.Bars {
			first := max(last+1, int(math.Ceil(b.X/bucket-0.5)))
			for i := first; i < len(owned) && (float64(i)+0.5)*bucket < b.X+b.W; i++ {
				owned[i]++
				last = i
			}
		}
	}
	var points strings.Builder
	for i, n := range owned {
		fmt.Fprintf(&points, "%.1f,%.1f ", (float64(i)+0.5)*bucket, chartHeight-float64(n)/float64(max(1, len(tl.Lanes)))*(chartHeight-2))
	}
	c.Owned = points.String()
}
