// Command bench measures Tenure side by side with etcd, in the same run on the
// same machine: three server processes each, and this one as the client. It
// prints a table and writes DIR/results.json and DIR/chart.html.
//
//	go run . [--quick] [--only WORKLOAD,...] [--systems SYSTEM,...] --out DIR
//
// All of it takes about an hour, --quick (the cycles and the gate) less than five
// minutes. Results of other workloads that DIR holds from earlier runs are kept.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"example.com/tenure/bench/cluster"
	"example.com/tenure/bench/report"
	"example.com/tenure/bench/workload"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == cluster.ServeVerb {
		signal.Ignore(os.Interrupt) // the client ends its servers
		exitOn(cluster.Serve(os.Args[2]))
		return
	}
	var o options
	flag.BoolVar(&o.quick, "quick", false, "only the cycles and the gate")
	flag.StringVar(&o.out, "out", "", "folder for results.json and chart.html, required")
	flag.StringVar(&o.data, "data", "", "folder for the servers' data, on the disk that is to be measured (default a folder below --out)")
	flag.StringVar(&o.only, "only", "", "only these workloads, by name")
	flag.StringVar(&o.systems, "systems", "", "only these systems, by name")
	flag.BoolVar(&o.profile, "profile", false, "also write profiles of the servers to the output folder; the figures suffer")
	flag.BoolVar(&o.logs, "logs", false, "also write logs of the servers to the output folder")
	flag.DurationVar(&o.hold, "hold", 0, "for how long a million leases are held, and no doubling of them then (default 5m, then doubled)")
	flag.IntVar(&o.million, "million", 0, "how many leases are held instead of a million")
	flag.BoolVar(&o.tiny, "tiny", false, "tiny sizes, to see that everything works")
	flag.Parse()
	if o.out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exitOn(o.run(ctx))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	quick, profile, tiny bool
	logs                 bool
	out, data            string
	only, systems        string
	hold                 time.Duration
	million              int
}

func (o options) run(ctx context.Context) error {
	chosen, err := choose(o.only, o.quick)
	if err != nil {
		return err
	}
	b := &workload.Bench{Sizes: workload.Full(), Log: os.Stderr, Results: report.New(), Systems: split(o.systems)}
	if o.quick {
		b.Sizes = workload.Quick()
	}
	if o.tiny {
		b.Sizes = workload.Tiny()
	}
	if o.hold > 0 {
		b.Hold, b.Doubled = o.hold, 0
	}
	if o.million > 0 {
		b.Million = o.million
	}
	if o.data == "" {
		o.data = o.out
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if o.profile {
		b.Profiles = o.out
	}
	if o.logs {
		b.Logs = o.out
	}
	if err := b.Results.Keep(o.path("results.json")); err != nil {
		return err
	}
	if b.Dir, err = os.MkdirTemp(o.data, "data-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.Dir)
	for _, w := range chosen {
		if err := w.Run(b, ctx); err != nil {
			return err
		}
		if err := o.write(b.Results); err != nil { // an hour's work is not lost to the last of it
			return err
		}
	}
	return b.Results.WriteTable(os.Stdout)
}

func (o options) path(name string) string { return filepath.Join(o.out, name) }

func (o options) write(r *report.Results) error {
	if err := r.WriteJSON(o.path("results.json")); err != nil {
		return err
	}
	machine := fmt.Sprintf("Measured on %s/%s with %d cores, %s.", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	return r.WriteChart(o.path("chart.html"), machine)
}

// choose returns the workloads of a run.
func choose(only string, quick bool) ([]workload.Workload, error) {
	names := split(only)
	var chosen []workload.Workload
	for _, w := range workload.All {
		if len(names) == 0 && (w.Quick || !quick) || slices.Contains(names, w.Name) {
			chosen = append(chosen, w)
		}
	}
	if len(names) > 0 && len(chosen) != len(names) {
		var all []string
		for _, w := range workload.All {
			all = append(all, w.Name)
		}
		return nil, fmt.Errorf("invalid --only %q: must be of %s", only, strings.Join(all, ", "))
	}
	return chosen, nil
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
