package plan

import "time"

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

// minority draws nodes without which the others go on.
func (d *drawing) minority(f *Fault) { f.Targets = d.some(d.nodes(), max(1, (d.plan.Nodes-1)/2)) }

func (d *drawing) diskSlow(f *Fault) {
	d.majority(f)
	f.Delay = Duration(d.between(time.Millisecond, time.Second))
}

func (d *drawing) node(f *Fault) { f.Targets = d.some(d.nodes(), 1) }

func (d *drawing) replica(f *Fault) { f.Targets = d.some(d.replicas(), 1) }
