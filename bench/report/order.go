package report

import "strings"

// workloads is the order in which results are shown.
var workloads = []string{"cycle", "gate", "renew", "failover", "handover", "expiry", "memory", "start", "snapshot", "watches", "stability"}

// rank orders results by workload.
func rank(name string) int {
	workload, _, _ := strings.Cut(name, "/")
	for i, w := range workloads {
		if w == workload {
			return i
		}
	}
	return len(workloads)
}

// A group is the results of one name.
type group struct {
	name, unit string
	results    []Result
}

// groups returns the results by name, in order.
func groups(list []Result) (all []group) {
	at := make(map[string]int)
	for _, r := range list {
		i, ok := at[r.Name]
		if !ok {
			i = len(all)
			at[r.Name] = i
			all = append(all, group{name: r.Name, unit: r.Unit})
		}
		all[i].results = append(all[i].results, r)
	}
	return all
}

// peer is the system that the others are compared with.
const peer = "etcd"

// ratio returns a result as a multiple of the peer's, 0 if there is none.
func (g *group) ratio(r Result) float64 {
	for _, p := range g.results {
		if p.System == peer && r.System != peer && p.Median != 0 {
			return r.Median / p.Median
		}
	}
	return 0
}

// moreIsBetter says whether a higher value of this unit is the better one.
func moreIsBetter(unit string) bool { return unit == "1/s" || unit == "leases" }
