package plan

import (
	"math"
	"time"
)

// What a fault of each kind strikes, and how hard.

func (d *drawing) partition(f *Fault) { f.Targets = d.grudge() }

func (d *drawing) slow(f *Fault) {
	f.Targets = d.grudge()
	f.Delay = Duration(d.between(5*time.Millisecond, time.Duration(d.plan.TTL)))
	f.Jitter = Duration(d.between(time.Millisecond, time.Duration(f.Delay)))
}

// throttle draws from what delays a snapshot to what delays every message.
func (d *drawing) throttle(f *Fault) {
	f.Targets, f.Bytes = d.grudge(), 4<<10<<d.rng.IntN(7)
}

// majority draws the leader, or one node to a majority of them.
func (d *drawing) majority(f *Fault) {
	f.Targets = d.some(d.nodes(), 1+d.plan.Nodes/2)
	if d.one(3) {
		f.Targets = []string{Leader}
	}
}

func (d *drawing) diskSlow(f *Fault) {
	d.majority(f)
	f.Delay = Duration(d.between(time.Millisecond, time.Second))
}

func (d *drawing) node(f *Fault) { f.Targets = d.some(d.nodes(), 1) }

func (d *drawing) replica(f *Fault) { f.Targets = d.some(d.replicas(), 1) }

// clock draws a host and its rate: nodes fast and replicas slow, which is what
// a margin is for, or the other way about.
func (d *drawing) clock(f *Fault) {
	// Half of the margin for either side.
	slack := float64(d.plan.Margin) / float64(d.plan.TTL) / 2
	if d.beyond && d.one(2) {
		slack = 0.5
	}
	node := d.one(2)
	rate := 1 + slack*d.rng.Float64()
	if !node {
		rate = 1 - slack*d.rng.Float64()
	}
	switch {
	case d.one(4):
		rate = 2 - rate
		if slack < 0.5 && node == (rate > 1) {
			rate = 1
		}
	case d.beyond && !node && d.one(4):
		rate = 0
	}
	rate = math.Round(rate*1000) / 1000
	f.Rate = &rate
	if node {
		d.node(f)
	} else {
		d.replica(f)
	}
}
