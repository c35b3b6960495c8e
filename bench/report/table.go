package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// HowToRead says what the figures mean.
const HowToRead = `How to read it: a line is what was measured of one system, the median of its
rounds with the least and the greatest of them. The systems take turns in each
round, so a ratio (the median against etcd's) is worth more than a figure by
itself, which moves with whatever else runs on the machine. Where the unit is
1/s or leases more is better, everywhere else less is. etcd is its
concurrency.Mutex on one shared session; etcd-own-lease gives each acquire a
lease of its own, which is what an acquire of tenure is. redis is a single server
that syncs each command: a reference for speed, it is not replicated. tenure-wal
is tenure with the log of module raftwal in the place of bolt.
`

// WriteTable writes the results as a table.
func (r *Results) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "WORKLOAD\tSYSTEM\tMEDIAN\tMIN\tMAX\tUNIT\tROUNDS\tAGAINST ETCD")
	for _, g := range groups(r.List()) {
		for _, x := range g.results {
			against := ""
			if ratio := g.ratio(x); ratio != 0 {
				against = fmt.Sprintf("x %.2f", ratio)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", x.Name, x.System, figure(x.Median), figure(x.Min), figure(x.Max), x.Unit, x.Rounds, against)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s", HowToRead)
	return err
}

// figure writes a value with three digits that count.
func figure(v float64) string {
	digits := 3
	for x := math.Abs(v); x >= 10 && digits > 0; x /= 10 {
		digits--
	}
	if v == math.Trunc(v) {
		digits = 0
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}
