package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/plan"
)

// A soak is many runs, by seeds or of one plan, some of them at once and each in
// a process of its own, until one is a violation or can't be carried out. A run
// that is valid is told in a line, and its folder goes away; any other is told in
// full, and stays. One that is interrupted tells what it has so far.
type soak struct {
	env  environment
	jobs int  // runs at once
	keep bool // folders of valid runs, too
	// lasting is for how long runs are begun; 0 is without an end.
	lasting time.Duration
	draw    func(n uint64) task

	begun  time.Time
	mu     sync.Mutex
	next   uint64 // seed
	end    uint64 // the first one that is too many
	tally  map[check.Verdict]int
	failed int           // could not be carried out
	length time.Duration // of the cluster's time
}

// A task is one run of a soak.
type task struct {
	plan *plan.Plan
	dir  string
	args []string // of the command that carries it out
}

// endless is more runs than anybody will see the end of.
const endless = 1 << 62

// run carries out n runs from a seed on, and returns the worst exit code.
func (s *soak) run(seed, n uint64) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s.next, s.end, s.tally = seed, seed+n, make(map[check.Verdict]int)
	if n == endless {
		fmt.Fprintf(s.env.stdout, "runs from %d on for %v, %d at once\n", seed, s.lasting, s.jobs)
	} else {
		fmt.Fprintf(s.env.stdout, "%d runs, %d to %d, %d at once\n", n, seed, seed+n-1, s.jobs)
	}
	s.begun = time.Now()
	var workers sync.WaitGroup
	for range s.jobs {
		workers.Go(func() {
			for seed, ok := s.take(ctx); ok; seed, ok = s.take(ctx) {
				s.one(ctx, seed)
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		fmt.Fprintln(s.env.stdout, "interrupted: the runs under way are not counted")
	}
	s.sum(time.Since(s.begun))
	switch {
	case s.failed > 0:
		return exitCrashed
	case s.tally[check.Violated] > 0:
		return exitViolation
	case s.tally[check.Unknown] > 0, ctx.Err() != nil:
		return exitUnknown
	}
	return exitValid
}

// take returns the next seed, if there is to be one more run.
func (s *soak) take(ctx context.Context) (seed uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := ctx.Err() != nil || s.lasting > 0 && time.Since(s.begun) > s.lasting
	if over || s.next == s.end || s.failed+s.tally[check.Violated] > 0 {
		return 0, false
	}
	s.next++
	return s.next - 1, true
}

func (s *soak) one(ctx context.Context, n uint64) {
	of := s.draw(n)
	var told bytes.Buffer
	begun := time.Now()
	verdict, err := apart(ctx, n, of, &told)
	s.mu.Lock()
	defer s.mu.Unlock()
	cutOff := err != nil && ctx.Err() != nil
	if !cutOff {
		s.tell(n, of.plan, verdict, err, &told, time.Since(begun))
	}
	if (verdict == check.Valid || cutOff) && !s.keep {
		if err := os.RemoveAll(of.dir); err != nil {
			fmt.Fprintf(s.env.stderr, "jepsen-lite: run %d: %v\n", n, err)
		}
	}
}

func (s *soak) tell(n uint64, p *plan.Plan, verdict check.Verdict, err error, told io.WriterTo, took time.Duration) {
	if err != nil {
		s.failed++
		_, _ = told.WriteTo(s.env.stdout)
		fmt.Fprintf(s.env.stderr, "jepsen-lite: run %d: %v\n", n, err)
		return
	}
	s.tally[verdict]++
	s.length += p.Length()
	if verdict != check.Valid {
		_, _ = told.WriteTo(s.env.stdout)
	}
	fmt.Fprintf(s.env.stdout, "run %d: %s: %v in %v, %d nodes, %d replicas, %d keys, %d faults of %v\n", n, verdict,
		p.Length().Round(time.Second), took.Round(time.Millisecond), p.Nodes, p.Replicas, p.Keys, len(p.Faults), p.Kinds)
}

func (s *soak) sum(took time.Duration) {
	runs := s.failed
	for _, n := range s.tally {
		runs += n
	}
	fmt.Fprintf(s.env.stdout, "%d runs: %d valid, %d unknown, %d violations, %d that could not be carried out\n",
		runs, s.tally[check.Valid], s.tally[check.Unknown], s.tally[check.Violated], s.failed)
	fmt.Fprintf(s.env.stdout, "%v of the cluster's time took %v, %d at once and with the judging: %.0f times as fast\n",
		s.length.Round(time.Second), took.Round(time.Millisecond), s.jobs, s.length.Seconds()/took.Seconds())
}
