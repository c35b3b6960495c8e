package jepsenlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/process"
	"example.com/tenure/jepsen-lite/report"
	"example.com/tenure/jepsen-lite/virtual"
)

// The names of files in a run's folder, besides those of package report.
const (
	PlanFile    = "plan.json"
	HistoryFile = "history.jsonl"
	LogFolder   = "log"  // a file for each node and replica
	DataFolder  = "data" // a folder for each node, where nodes are processes
)

// Options say where a run goes and what stands in its history.
type Options struct {
	Dir    string    // is made; must not hold a run yet
	Out    io.Writer // is told the plan first, progress while it goes, and the verdict last
	Commit string    // of the product, if it is known
	Replay string    // the command that runs the plan again
}

// RunPlan carries a plan out and judges it. An error says why there is no
// judgement, and not what was found: that is in the report. For the arena of
// processes the program's main function has to begin as package process says.
func RunPlan(t *testing.T, p *plan.Plan, o Options) (*report.Report, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(o.Dir, LogFolder), 0o755); err != nil {
		return nil, fmt.Errorf("make the run's folder: %w", err)
	}
	history, err := history.Create(filepath.Join(o.Dir, HistoryFile))
	if err != nil {
		return nil, err
	}
	if err := p.WriteFile(filepath.Join(o.Dir, PlanFile)); err != nil {
		return nil, errors.Join(err, history.Close())
	}
	say(o.Out, "seed %d, %s arena, plan %s\n", p.Seed, p.Arena, filepath.Join(o.Dir, PlanFile))
	say(o.Out, "%d nodes, %d replicas, %d keys, ttl %v, margin %v, %d faults of %v in %v, claim A %s\n",
		p.Nodes, p.Replicas, p.Keys, p.TTL, p.Margin, len(p.Faults), p.Kinds, p.Safety, onOff(p.Timed()))
	if err := carryOut(t, p, o, history); err != nil {
		return nil, errors.Join(err, history.Close())
	}
	if err := history.Close(); err != nil {
		return nil, err
	}
	return Judge(filepath.Join(o.Dir, HistoryFile), o.Dir, o.Out)
}

// carryOut runs the plan in its arena.
func carryOut(t *testing.T, p *plan.Plan, o Options, w *history.Writer) error {
	terms := p.Terms()
	terms.Commit, terms.Replay = o.Commit, o.Replay
	if p.Arena == plan.Process {
		return inProcesses(t.Context(), p, o, w, terms)
	}
	return inVirtualTime(t, p, o, w, terms)
}

// inVirtualTime runs the plan and tells how fast that went.
func inVirtualTime(t *testing.T, p *plan.Plan, o Options, w *history.Writer, terms *history.Terms) error {
	terms.Tells = p.Tells(
		history.TellsOps, history.TellsGates, history.TellsData, history.TellsLog, history.TellsWatch, history.TellsSums, history.TellsLeaks,
	)
	logs := newLogs(filepath.Join(o.Dir, LogFolder))
	start := time.Now()
	var last virtual.Progress
	err := virtual.Do(t, virtual.Run{
		Plan: p, History: w, Terms: terms, Folder: o.Dir, Log: logs.logger,
		Progress: func(now virtual.Progress) {
			last = now
			tellProgress(o.Out, now)
		},
	})
	took := time.Since(start)
	say(o.Out, "%v of the cluster's time took %v: %.0f times as fast\n",
		last.Elapsed.Round(time.Second), took.Round(time.Millisecond), last.Elapsed.Seconds()/took.Seconds())
	return errors.Join(err, logs.close())
}

// inProcesses runs the plan in processes, which end with it when it is
// interrupted.
func inProcesses(ctx context.Context, p *plan.Plan, o Options, w *history.Writer, terms *history.Terms) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	terms.Tells = p.Tells(process.Tells()...)
	err := process.Do(ctx, process.Run{
		Plan: p, History: w, Terms: terms, DataDir: filepath.Join(o.Dir, DataFolder), LogDir: filepath.Join(o.Dir, LogFolder),
		Progress: func(now process.Progress) { tellProgress(o.Out, virtual.Progress(now)) },
	})
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", err)
	}
	return err
}

func tellProgress(w io.Writer, now virtual.Progress) {
	say(w, "%8v  %d operations, %d ownership changes, %d faults\n", now.Elapsed.Truncate(time.Second), now.Operations, now.Changes, now.Faults)
}

// Judge checks a history and tells what the checkers found. With a folder it
// writes the reports into it, and makes it if it does not exist.
func Judge(path, dir string, out io.Writer) (*report.Report, error) {
	h, err := history.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := report.New(h, check.Judge(h))
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make the report's folder: %w", err)
		}
		if err := r.WriteFiles(dir); err != nil {
			return nil, err
		}
	}
	if err := r.Text(out); err != nil {
		return nil, err
	}
	return r, nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off: clocks leave the margin"
}

// say tells a person something. That nobody listens is no error of the run's.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
