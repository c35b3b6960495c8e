package jepsenlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/fleet"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/report"
)

// T is what a run needs of a test. A [testing.T] is one.
type T interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Run puts a fleet under faults, judges what its clients saw, and marks the
// test as failed if that breaks a promise, if nobody can know whether it does,
// or if the run could not be carried out. It prints the seed first, then the
// plan, and the verdict with the command that repeats it last. It blocks until
// the fleet has been killed and nothing of the run is left, and returns the
// report, nil if there is none.
func Run(t T, c Config) *report.Report {
	t.Helper()
	r, err := prepare(t, c)
	if err != nil {
		t.Errorf("jepsen-lite: %v", err)
		return nil
	}
	t.Logf("jepsen-lite: seed %d", r.cfg.Seed)
	// Processes that are left behind by an interrupt would be the user's.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rep, err := r.do(ctx)
	r.end(rep, err)
	return rep
}

// A run is one call of Run.
type run struct {
	t     T
	cfg   Config
	given *fleet.Plan // to be carried out again, nil if one is to be drawn
	dir   string
	own   bool // the folder is temporary
}

// do starts the fleet, carries the plan out and judges it. Both a report and an
// error mean that the run was judged as far as it went.
func (r *run) do(ctx context.Context) (*report.Report, error) {
	r.t.Helper()
	a, err := fleet.Open(ctx, fleet.Config{
		Adapter: r.cfg.Fleet, Replicas: r.cfg.Replicas, Ports: r.cfg.Ports, Keys: r.cfg.Keys,
		Timeout: r.cfg.Timeout, Rate: r.cfg.Rate, Dir: r.dir, Kinds: r.cfg.Faults, Start: r.cfg.Start,
	})
	if err != nil {
		return nil, fmt.Errorf("start the fleet: %w", err)
	}
	begun, err := r.carry(ctx, a)
	err = errors.Join(err, a.Close())
	if !begun {
		return nil, err
	}
	var out strings.Builder
	rep, judging := Judge(filepath.Join(r.dir, HistoryFile), r.dir, &out)
	if judging != nil {
		return nil, errors.Join(err, judging)
	}
	r.t.Logf("jepsen-lite:\n%s", out.String())
	return rep, err
}

// carry reports whether there is a history.
func (r *run) carry(ctx context.Context, a *fleet.Arena) (begun bool, err error) {
	r.t.Helper()
	p := r.plan(a)
	if err := p.WriteFile(filepath.Join(r.dir, PlanFile)); err != nil {
		return false, err
	}
	w, err := history.Create(filepath.Join(r.dir, HistoryFile))
	if err != nil {
		return false, err
	}
	r.t.Logf("jepsen-lite: %d replicas, %d keys, TTL %v, %d faults of %q in %v; plan %s", p.Replicas, len(p.Keys), p.TTL, len(p.Faults), p.Kinds, p.Safety, filepath.Join(r.dir, PlanFile))
	for _, kind := range slices.Sorted(maps.Keys(a.Off())) {
		r.t.Logf("jepsen-lite: fault %s is off: %s", kind, a.Off()[kind])
	}
	terms := p.Terms()
	terms.Replay = r.replay()
	err = a.Carry(ctx, p, w, terms, func(now fleet.Progress) {
		r.t.Logf("jepsen-lite: %v  %d operations, %d acknowledged writes, %d ownership changes, %d faults",
			now.Elapsed.Round(100*time.Millisecond), now.Operations, now.Acknowledged, now.Changes, now.Faults)
	})
	return true, errors.Join(err, w.Close())
}

func (r *run) plan(a *fleet.Arena) *fleet.Plan {
	if r.given != nil {
		return r.given
	}
	return fleet.Draw(r.cfg.Seed, fleet.Options{
		Replicas: r.cfg.Replicas, Keys: r.cfg.Keys, TTL: r.cfg.TTL, Safety: r.cfg.Duration, Available: r.cfg.Available,
		Kinds: a.Kinds(), Owners: a.Owners(), Lists: a.Lists(),
	})
}

// replay returns the command that carries out the plan again.
func (r *run) replay() string {
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(r.t.Name()), "/", "$/^") + "$"
	return fmt.Sprintf("%s=%s go test -count=1 -run '%s' .", EnvPlan, filepath.Join(r.dir, PlanFile), pattern)
}

// end tells the verdict, and fails the test unless it is good.
func (r *run) end(rep *report.Report, err error) {
	t := r.t
	t.Helper()
	good := err == nil && rep.Judgement.Verdict == check.Valid
	switch {
	case err != nil && rep != nil:
		t.Errorf("jepsen-lite: the run was not carried out as planned, and judged as far as it went, %s: %v", rep.Judgement.Verdict, err)
	case err != nil:
		t.Errorf("jepsen-lite: %v", err)
	case rep.Judgement.Verdict == check.Violated:
		t.Errorf("jepsen-lite: violation: %s", strings.Join(rep.Judgement.Reasons, "; "))
	case rep.Judgement.Verdict == check.Unknown && !r.cfg.UnknownPasses:
		t.Errorf("jepsen-lite: unknown: %s", strings.Join(rep.Judgement.Reasons, "; "))
	}
	if r.own && good {
		if err := os.RemoveAll(r.dir); err != nil {
			t.Errorf("jepsen-lite: %v", err)
		}
		t.Logf("jepsen-lite: seed %d: verdict: valid; again: %s=%d", r.cfg.Seed, EnvSeed, r.cfg.Seed)
		return
	}
	verdict := "none"
	if rep != nil {
		verdict = string(rep.Judgement.Verdict)
	}
	t.Logf("jepsen-lite: seed %d: verdict: %s; the run is in %s; again: %s", r.cfg.Seed, verdict, r.dir, r.replay())
}
