package workload

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"example.com/tenure/bench/cluster"
	"example.com/tenure/bench/contender"
	"example.com/tenure/bench/report"
)

// A Bench is a run of workloads.
type Bench struct {
	Sizes
	Dir     string    // for the servers' data
	Log     io.Writer // is told what goes on
	Results *report.Results
	Systems []string // only these are measured
	// Profiles, unless empty, is the folder for profiles of the servers.
	Profiles string
	Logs     string // the folder for logs of the servers, likewise
}

// Sizes say how much is measured.
type Sizes struct {
	Rounds  int           // of what is measured several times
	Cycle   time.Duration // of one round of cycles
	Workers []int         // in the cycles
	Leases  int           // in what is measured with a hundred thousand
	Million int           // in what is measured with a million
	Holders int           // that hold them
	Window  time.Duration // of one round of renewals
	Hold    time.Duration // for which a million leases are held
	Doubled time.Duration // for which each doubling of them is held; 0 is not to double
	Trials  int           // of what is done once at a time
	Gate    time.Duration // of one round of the gate
}

// Full is what is measured for the record: about an hour.
func Full() Sizes {
	return Sizes{Rounds: 5, Cycle: 2 * time.Second, Workers: []int{1, 64, 256}, Leases: 100_000, Million: 1_000_000, Holders: 100,
		Window: 10 * time.Second, Hold: 5 * time.Minute, Doubled: 30 * time.Second, Trials: 10, Gate: 200 * time.Millisecond}
}

// Quick is the cycles and the gate in less than five minutes.
func Quick() Sizes {
	s := Full()
	s.Cycle = 1500 * time.Millisecond
	return s
}

// Tiny is enough to see that everything works.
func Tiny() Sizes {
	return Sizes{Rounds: 1, Cycle: 100 * time.Millisecond, Workers: []int{1, 4}, Leases: 300, Million: 2000, Holders: 4,
		Window: 500 * time.Millisecond, Hold: 4 * time.Second, Trials: 1, Gate: 5 * time.Millisecond}
}

// A Workload is one thing that is measured.
type Workload struct {
	Name  string
	Quick bool // part of a quick run
	Run   func(*Bench, context.Context) error
}

// All are the workloads, in the order in which they run.
var All = []Workload{
	{"cycle", true, (*Bench).cycle},
	{"gate", true, (*Bench).gate},
	{"handover", false, (*Bench).handover},
	{"failover", false, (*Bench).failover},
	{"stability", false, (*Bench).stability},
	{"expiry", false, (*Bench).expiry},
	{"watches", false, (*Bench).watches},
	{"snapshot", false, (*Bench).snapshot},
	{"memory", false, (*Bench).memory},
	{"renew-100k", false, (*Bench).renewSome},
	{"renew-1m", false, (*Bench).renewMillion},
}

func (b *Bench) logf(format string, args ...any) { fmt.Fprintf(b.Log, format+"\n", args...) }

// only returns those of the systems that are to be measured.
func (b *Bench) only(systems ...string) []string {
	return slices.DeleteFunc(systems, func(s string) bool { return len(b.Systems) > 0 && !slices.Contains(b.Systems, s) })
}

// startTime bounds how long a cluster may take to serve.
const startTime = 2 * time.Minute

// start starts the cluster of a kind.
func (b *Bench) start(ctx context.Context, kind string) (*cluster.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	return cluster.Start(ctx, kind, b.Dir, b.Logs)
}

// leaderFirst returns the addresses of a cluster, its leader's first.
func leaderFirst(c *cluster.Cluster) ([]string, error) {
	leader, err := c.Leader()
	if err != nil {
		return nil, err
	}
	addrs := []string{c.Addrs[leader]}
	return append(addrs, others(c, leader)...), nil
}

// others returns the addresses of all servers but one.
func others(c *cluster.Cluster, but int) (addrs []string) {
	for i, addr := range c.Addrs {
		if i != but {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

// kindOf returns the kind of servers that a system needs.
func kindOf(system string) string {
	if system == contender.EtcdOwnLease {
		return cluster.Etcd
	}
	return system
}

// profile has the servers of a cluster, and this process, profiled, if that is
// wanted.
func (b *Bench) profile(c *cluster.Cluster, name string) error {
	if b.Profiles == "" {
		return nil
	}
	go cluster.Profile(filepath.Join(b.Profiles, name+"-"+c.Kind+"-client.prof"))
	return c.Profile(b.Profiles, name)
}
