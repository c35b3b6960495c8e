package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"example.com/tenure/examples/ledger/fleet"
)

// A fleetRun is the subcommand fleet.
type fleetRun struct {
	cfg     fleet.Config
	writers int
	restart time.Duration
	kill9   time.Duration
	freeze  bool
	out     io.Writer
	running *fleet.Fleet
	load    *fleet.Load
	telling sync.Mutex
}

// startTime is how long a fleet may take until it serves.
const startTime = time.Minute

func runFleet(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	run, err := parseFleet(args, stderr)
	if err != nil {
		return err
	}
	run.out = stdout
	return run.run(ctx)
}

func parseFleet(args []string, stderr io.Writer) (*fleetRun, error) {
	flags := flag.NewFlagSet("ledger fleet", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var run fleetRun
	replicas := flags.Int("replicas", 3, "number of replicas")
	listen := flags.String("listen", "127.0.0.1:7501", "HOST:PORT of the first replica's node; the others use the next ports")
	http := flags.String("http", "127.0.0.1:8001", "HOST:PORT of the first replica's API; the others use the next ports")
	flags.StringVar(&run.cfg.Dir, "dir", "", "folder for data, ledgers and logs (default: a new temporary one)")
	flags.IntVar(&run.cfg.Tenants, "tenants", 100, "number of tenants")
	flags.DurationVar(&run.cfg.TTL, "ttl", 3*time.Second, "TTL of the leases")
	flags.IntVar(&run.writers, "writers", 8, "number of writers")
	flags.DurationVar(&run.restart, "restart", 10*time.Second, "how long a replica that you killed stays away")
	flags.DurationVar(&run.kill9, "kill9", 0, "kill a replica with kill -9 again and again for so long, then check the ledgers and end")
	flags.BoolVar(&run.freeze, "freeze", false, "with -kill9: also freeze replicas, for longer than a TTL")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	var err error
	if run.cfg.Peers, err = fleet.Local(*replicas, *listen, *http); err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	run.cfg.Command = []string{exe}
	if run.cfg.Dir == "" {
		run.cfg.Dir, err = os.MkdirTemp("", "ledger-fleet-")
	}
	return &run, err
}

// run runs the fleet until ctx ends or the kills are over, and checks the
// ledgers.
func (r *fleetRun) run(ctx context.Context) error {
	var err error
	if r.running, err = fleet.Start(r.cfg); err != nil {
		return err
	}
	defer r.running.Close()
	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := r.running.AwaitServing(starting); err != nil {
		return err
	}
	r.introduce()
	r.load = r.running.Load(r.writers)
	failure := r.watch(ctx)
	r.load.Stop()
	return errors.Join(failure, r.running.Close(), r.check())
}

func (r *fleetRun) introduce() {
	r.printf("%d replicas share %d tenants; TTL %v; everything is in %s\n", len(r.cfg.Peers), r.cfg.Tenants, r.cfg.TTL, r.cfg.Dir)
	for i, p := range r.cfg.Peers {
		r.printf("  %s  node %s  API http://%s  to kill it: kill -9 %d\n", p.ID, p.Node, p.HTTP, r.running.Pid(i))
	}
	r.printf("%d writers append entries. Ctrl-C ends it and checks the ledgers.\n\n", r.writers)
}

// check reads the ledgers from the disk. The replicas were killed all at once.
func (r *fleetRun) check() error {
	report, err := fleet.Check(context.Background(), r.cfg, r.load)
	if err != nil {
		return err
	}
	r.printf("\n%d entries acknowledged, %d in the ledgers, written by %d tenures; %d reads; the longest wait for an acknowledgement was %v\n",
		report.Acknowledged, report.Entries, report.Tenures, report.Reads, r.load.Longest().Round(time.Millisecond))
	if len(report.Violations) > 0 {
		for _, v := range report.Violations {
			r.printf("WRONG: %s\n", v)
		}
		return fmt.Errorf("%d promises were broken; everything is in %s", len(report.Violations), r.cfg.Dir)
	}
	r.printf("every acknowledged entry is there, once, in order\n")
	return nil
}

// printf tells the person who looks on. What watches the fleet and what disturbs
// it do so at the same time.
func (r *fleetRun) printf(format string, args ...any) {
	r.telling.Lock()
	defer r.telling.Unlock()
	fmt.Fprintf(r.out, format, args...)
}
