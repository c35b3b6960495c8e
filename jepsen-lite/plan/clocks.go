package plan

import (
	"math"
	"time"
)

// Claim A stands on one assumption: over one TTL, a holder's clock does not run
// slower than a node's by more than the margin. Which way a clock is wrong is
// what counts.
//
//   - A node's clock that is fast, or jumps ahead, lets a tenure expire too
//     soon: against claim A.
//   - A node's clock that is slow, or stands still while its host is suspended,
//     lets it expire later.
//   - A holder's clock that is slow, or stands still while its host is
//     suspended, keeps the gate open too long: against claim A. It does not
//     matter that the holder does nothing meanwhile; it goes on afterwards.
//   - A holder's clock that is fast, or jumps ahead, only closes the gate sooner.
//   - A clock that counts the time of a suspension is right again afterwards,
//     and nobody reads it meanwhile. A pause leaves clocks alone.
//
// So a holder sees its gate open for at most (ttl-margin)/slowest + stood of true
// time, where stood is how long its clock may stand still within that time, and
// a node waits for at least (ttl-jumped)/fastest. Both are at most the TTL while
// claim A stands, so the worst that one TTL can hold of either is what counts.

// Timed reports whether claim A can be tested: no clock leaves the margin. It
// is reckoned for tenures of the plan's TTL and margin; a longer TTL with the
// same share of margin bears more.
func (p *Plan) Timed() bool {
	fastest, slowest := p.rates()
	ttl := float64(p.TTL)
	waits := (ttl - float64(p.jumped())) / fastest
	if slowest == 0 {
		return false
	}
	return float64(p.TTL-p.Margin)/slowest+float64(p.stood()) <= waits
}

// fastestNode bounds the rate of every node's clock against true time over any
// half of a TTL and more, jumps included.
func (p *Plan) fastestNode() float64 {
	fastest, _ := p.rates()
	left := float64(p.TTL) - 2*float64(p.jumped())
	if left <= 0 || float64(p.TTL)/left*fastest > maxFastest {
		return maxFastest
	}
	return float64(p.TTL) / left * fastest
}

// maxFastest is as fast as any clock in a history is said to run.
const maxFastest = 100

// rates returns the fastest rate of any node's clock and the slowest of any
// replica's.
func (p *Plan) rates() (fastest, slowest float64) {
	fastest, slowest = 1, 1
	for _, f := range p.Faults {
		if f.Kind != Clock || f.Rate == nil {
			continue
		}
		for _, host := range f.Targets {
			if p.hasNode(host) {
				fastest = max(fastest, *f.Rate)
			}
			if p.hasReplica(host) {
				slowest = min(slowest, *f.Rate)
			}
		}
	}
	return fastest, slowest
}

// jumped returns how far the jumps of one TTL move any node's clock ahead.
func (p *Plan) jumped() Duration {
	return p.worst(func(f *Fault) Duration {
		if f.Kind != ClockJump {
			return 0
		}
		return f.Delay
	}, p.hasNode)
}

// stood returns how long suspensions within one TTL make any replica's clock
// stand still.
func (p *Plan) stood() Duration {
	return p.worst(func(f *Fault) Duration {
		if f.Kind != Suspend || f.Counted {
			return 0
		}
		return f.For + slowness
	}, p.hasReplica)
}

// slowness is how much longer than planned a fault may stand, for its probes.
const slowness = Duration(250 * time.Millisecond)

// worst returns the most that faults which begin or stand within one TTL add up
// to, for any one of the hosts. The leader may be any of them.
func (p *Plan) worst(adds func(*Fault) Duration, hosts func(string) bool) (worst Duration) {
	var some []*Fault
	for i := range p.Faults {
		if f := &p.Faults[i]; adds(f) > 0 {
			some = append(some, f)
		}
	}
	for i, first := range some {
		begin, end := first.At, first.At+p.TTL+2*slowness
		sums := make(map[string]Duration)
		for j, f := range some {
			if f.At > end || j < i && f.At+f.For+2*slowness < begin {
				continue
			}
			for _, host := range f.Targets {
				if hosts(host) {
					sums[p.HostOf(host)] += adds(f)
				}
			}
		}
		for host, sum := range sums {
			if host != Leader {
				sum += sums[Leader]
			}
			worst = max(worst, sum)
		}
	}
	return worst
}

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
	d.host(f, node)
}

func (d *drawing) host(f *Fault, node bool) {
	if node {
		d.node(f)
	} else {
		d.replica(f)
	}
}

// jump draws a host whose clock jumps ahead: a node's by a part of what the
// margin leaves, so that a few within one TTL stay within it.
func (d *drawing) jump(f *Fault) {
	node := d.one(2)
	most := 2 * d.plan.TTL
	if node && !(d.beyond && d.one(2)) {
		most = d.plan.Margin / 8
	}
	f.Delay = Duration(d.between(time.Millisecond, time.Duration(most)))
	d.host(f, node)
}

// suspend draws a host that stands still. Where a replica's clock does so, too,
// that leaves the margin unless it is very short.
func (d *drawing) suspend(f *Fault) {
	node := d.one(2)
	f.Counted = d.one(2) || !node && !d.beyond
	d.host(f, node)
}
