//go:build unix

package jepsenlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	jepsenlite "example.com/tenure/jepsen-lite"
	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/report"
)

// A book is a test that only writes down what it is told.
type book struct {
	name string
	mu   sync.Mutex
	logs strings.Builder
	errs strings.Builder
}

func (b *book) Helper() {}

func (b *book) Name() string { return b.name }

func (b *book) Logf(format string, args ...any) { b.note(&b.logs, format, args) }

func (b *book) Errorf(format string, args ...any) { b.note(&b.errs, format, args) }

func (b *book) note(to *strings.Builder, format string, args []any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintf(to, format+"\n", args...)
}

func toyConfig(t *testing.T, f jepsenlite.Fleet) jepsenlite.Config {
	return jepsenlite.Config{Fleet: f, TTL: 400 * time.Millisecond, Duration: 5 * time.Second, Available: 5 * time.Second, Dir: t.TempDir()}
}

func rejecting(r *report.Report) []string {
	var by []string
	for _, v := range r.Judgement.Violations() {
		by = append(by, v.Checker+"/"+v.Rule)
	}
	slices.Sort(by)
	return slices.Compact(by)
}

// An outcome is what came of a run.
type outcome struct {
	book
	report *report.Report
}

// together makes runs at the same time: they mostly wait.
func together(t *testing.T, configs map[string]jepsenlite.Config) map[string]*outcome {
	outcomes := make(map[string]*outcome)
	var runs sync.WaitGroup
	for name, c := range configs {
		o := &outcome{book: book{name: t.Name() + "/" + name}}
		outcomes[name] = o
		runs.Go(func() { o.report = jepsenlite.Run(o, c) })
	}
	runs.Wait()
	return outcomes
}

func toyRun(t *testing.T, defect string, seed uint64, faults ...string) jepsenlite.Config {
	c := toyConfig(t, newToyFleet(t, defect))
	c.Seed, c.Faults = seed, faults
	return c
}

// Seeds of toyRun.
const (
	killsAll    = 190 // with kills only: all three at once, three times
	pausesOwner = 150 // with pauses only: the owner, four times for longer than a TTL
)

// A fleet that is right passes, also where the broken ones don't, and the
// checkers did look.
func TestRightFleet(t *testing.T) {
	for name, o := range together(t, map[string]jepsenlite.Config{
		"all": toyRun(t, noDefect, 3), "kill": toyRun(t, noDefect, killsAll, "kill"), "pause": toyRun(t, noDefect, pausesOwner, "pause"),
	}) {
		if o.report == nil || o.report.Judgement.Verdict != check.Valid || o.errs.Len() > 0 {
			t.Errorf("%s: %s%s", name, &o.logs, &o.errs)
			continue
		}
		for _, f := range o.report.Judgement.Findings {
			needed := slices.Contains([]string{check.Reigns.Name, check.Kept.Name, check.Available.Name}, f.Checker)
			if needed != (f.Looked > 0) || needed != (f.Verdict == check.Valid) {
				t.Errorf("%s: %s is %s and looked at %d", name, f.Checker, f.Verdict, f.Looked)
			}
		}
	}
}

// Each defect is found by the checker that is for it, and the test fails.
func TestBrokenFleets(t *testing.T) {
	by := map[string]string{
		twoOwners: "reigns/R2", losesWrites: "kept/K1", fallingEpoch: "reigns/R1", writesTwice: "kept/K3", noGate: "reigns/R1",
	}
	configs := make(map[string]jepsenlite.Config)
	for defect := range by {
		configs[defect] = toyRun(t, defect, killsAll, "kill")
	}
	configs[noGate] = toyRun(t, noGate, pausesOwner, "pause")
	for defect, o := range together(t, configs) {
		if o.report == nil || o.report.Judgement.Verdict != check.Violated {
			t.Errorf("%s: %s%s", defect, &o.logs, &o.errs)
			continue
		}
		if found := rejecting(o.report); !slices.Contains(found, by[defect]) {
			t.Errorf("%s: found by %q, want %s", defect, found, by[defect])
		}
		if !strings.Contains(o.errs.String(), "violation: ") || !strings.Contains(o.logs.String(), jepsenlite.EnvPlan+"=") {
			t.Errorf("%s: %s%s", defect, &o.logs, &o.errs)
		}
	}
}

// An inProcess fleet is a map: it can neither be killed nor be paused, has no
// connections, and tells no epochs.
type inProcess struct {
	mu     sync.Mutex
	values map[string][]uint64
	mute   bool // it can't be read either
	refuse bool // some writes

	writes, reads int // that are answered, 0 for all
}

func (f *inProcess) Start(context.Context, jepsenlite.Replica) error  { return nil }
func (f *inProcess) Kill(context.Context, jepsenlite.Replica) error   { return errors.ErrUnsupported }
func (f *inProcess) Pause(context.Context, jepsenlite.Replica) error  { return errors.ErrUnsupported }
func (f *inProcess) Resume(context.Context, jepsenlite.Replica) error { return errors.ErrUnsupported }

func (f *inProcess) Write(_ context.Context, _ jepsenlite.Replica, key string, value uint64) (jepsenlite.Ack, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.writes--; f.writes == 0 {
		f.writes++
		return jepsenlite.Ack{}, errors.New("no more")
	}
	if f.refuse && value%2 == 0 {
		return jepsenlite.Ack{}, fmt.Errorf("%d: %w", value, jepsenlite.ErrRefused)
	}
	f.values[key] = append(f.values[key], value)
	return jepsenlite.Ack{}, nil
}

func (f *inProcess) Read(_ context.Context, _ jepsenlite.Replica, key string) (jepsenlite.Values, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reads--; f.reads == 0 {
		f.reads++
		return jepsenlite.Values{}, errors.New("no more")
	}
	if f.mute {
		return jepsenlite.Values{}, errors.ErrUnsupported
	}
	return jepsenlite.Values{Values: slices.Clone(f.values[key])}, nil
}

// What an adapter can't do is off, is told, and is in the reports.
func TestUnsupported(t *testing.T) {
	f := &inProcess{values: make(map[string][]uint64), refuse: true}
	c := toyConfig(t, f)
	c.Duration = time.Second
	b := &book{name: t.Name()}
	r := jepsenlite.Run(b, c)
	if r == nil || r.Judgement.Verdict != check.Valid || b.errs.Len() > 0 {
		t.Fatalf("%s%s", &b.logs, &b.errs)
	}
	for _, kind := range jepsenlite.FleetFaults() {
		if !strings.Contains(b.logs.String(), "fault "+kind+" is off: ") {
			t.Errorf("it is not said that %s is off: %s", kind, &b.logs)
		}
	}
	for _, f := range r.Judgement.Findings {
		if f.Checker == check.Reigns.Name && (f.Verdict != check.Skipped || !strings.Contains(f.Reason, "epochs")) {
			t.Errorf("reigns is %s: %s", f.Verdict, f.Reason)
		}
	}
	for _, name := range []string{report.JSONFile, report.JUnitFile, report.HTMLFile} {
		paths, err := filepath.Glob(filepath.Join(c.Dir, t.Name(), "seed-*", name))
		if err != nil || len(paths) != 1 {
			t.Fatalf("%s: %q, %v", name, paths, err)
		}
		if text, err := os.ReadFile(paths[0]); err != nil || !strings.Contains(string(text), "no replica has dialed") {
			t.Errorf("%s does not tell what is off: %v", name, err)
		}
	}
}

// A fleet of which nothing can be judged is refused.
func TestNothingToJudge(t *testing.T) {
	b := &book{name: t.Name()}
	r := jepsenlite.Run(b, toyConfig(t, &inProcess{values: make(map[string][]uint64), mute: true}))
	if r != nil || !strings.Contains(b.errs.String(), "nothing to judge") {
		t.Errorf("%v, %s", r, &b.errs)
	}
}

// A fleet that takes no more writes after the faults breaks a promise. One that
// can't be read any more leaves it open what it has, which fails the test
// unless it is told otherwise.
func TestOutOfWork(t *testing.T) {
	configs := make(map[string]jepsenlite.Config)
	for name, f := range map[string]*inProcess{"no writes": {writes: 30}, "no reads": {reads: 7}, "no reads, which passes": {reads: 7}} {
		f.values = make(map[string][]uint64)
		c := toyConfig(t, f)
		c.Duration, c.Available, c.UnknownPasses = 2*time.Second, time.Second, strings.HasSuffix(name, "passes")
		configs[name] = c
	}
	outcomes := together(t, configs)
	for _, want := range []struct {
		name    string
		verdict check.Verdict
		says    string
	}{
		{"no writes", check.Violated, "violation: available: "},
		{"no reads", check.Unknown, "listed_keys"},
		{"no reads, which passes", check.Unknown, ""},
	} {
		o := outcomes[want.name]
		if o.report == nil || o.report.Judgement.Verdict != want.verdict {
			t.Errorf("%s: not %s: %s%s", want.name, want.verdict, &o.logs, &o.errs)
		}
		if (o.errs.Len() > 0) != (want.says != "") || !strings.Contains(o.errs.String(), want.says) {
			t.Errorf("%s: it says %q", want.name, &o.errs)
		}
	}
}

func TestInvalidConfig(t *testing.T) {
	f := &inProcess{}
	for _, c := range []struct {
		field  string
		config jepsenlite.Config
	}{
		{"Fleet", jepsenlite.Config{TTL: time.Second}},
		{"ttl", jepsenlite.Config{Fleet: f}},
		{"replicas", jepsenlite.Config{Fleet: f, TTL: time.Second, Replicas: 10}},
		{"Ports", jepsenlite.Config{Fleet: f, TTL: time.Second, Ports: 10}},
		{"keys", jepsenlite.Config{Fleet: f, TTL: time.Second, Keys: []string{"a", "a"}}},
		{"Faults", jepsenlite.Config{Fleet: f, TTL: time.Second, Faults: []string{"fire"}}},
		{"safety", jepsenlite.Config{Fleet: f, TTL: time.Second, Duration: time.Millisecond}},
		{"Rate", jepsenlite.Config{Fleet: f, TTL: time.Second, Rate: -1}},
	} {
		b := &book{name: t.Name()}
		if r := jepsenlite.Run(b, c.config); r != nil || !strings.Contains(b.errs.String(), "invalid "+c.field) {
			t.Errorf("%s: %v, %q", c.field, r, &b.errs)
		}
	}
	t.Setenv(jepsenlite.EnvSeed, "x")
	b := &book{name: t.Name()}
	if jepsenlite.Run(b, jepsenlite.Config{Fleet: f, TTL: time.Second}); !strings.Contains(b.errs.String(), jepsenlite.EnvSeed) {
		t.Errorf("a seed that is none: %q", &b.errs)
	}
}

// A hasty book is a test that ends soon.
type hasty struct{ book }

func (h *hasty) Deadline() (time.Time, bool) { return time.Now().Add(10 * time.Second), true }

// A test that would be over before the run is refused before anything starts.
func TestTooLittleTime(t *testing.T) {
	h := &hasty{book{name: t.Name()}}
	if r := jepsenlite.Run(h, toyConfig(t, &inProcess{})); r != nil || !strings.Contains(h.errs.String(), "-timeout") {
		t.Errorf("%v, %q", r, &h.errs)
	}
}

// A plan that was written down is carried out again, whatever else is asked
// for, and one of another fleet is refused.
func TestPlanAgain(t *testing.T) {
	c := toyConfig(t, &inProcess{values: make(map[string][]uint64)})
	c.Duration, c.Seed = time.Second, 5
	if jepsenlite.Run(t, c) == nil {
		t.Fatal("no report")
	}
	paths, err := filepath.Glob(filepath.Join(c.Dir, t.Name(), "seed-5-*", jepsenlite.PlanFile))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%q, %v", paths, err)
	}
	t.Setenv(jepsenlite.EnvPlan, paths[0])
	t.Setenv(jepsenlite.EnvDir, t.TempDir())
	b := &book{name: t.Name()}
	c.Fleet, c.Seed = &inProcess{values: make(map[string][]uint64)}, 6
	if r := jepsenlite.Run(b, c); r == nil || b.errs.Len() > 0 || !strings.Contains(b.logs.String(), "seed 5") {
		t.Errorf("%s%s", &b.logs, &b.errs)
	}
	if moved, _ := filepath.Glob(filepath.Join(os.Getenv(jepsenlite.EnvDir), t.Name(), "seed-5-*", jepsenlite.HistoryFile)); len(moved) != 1 {
		t.Errorf("the run is not where %s says: %q", jepsenlite.EnvDir, moved)
	}
	c.Keys = []string{"another"}
	if jepsenlite.Run(b, c); !strings.Contains(b.errs.String(), "invalid keys") {
		t.Errorf("a plan of another fleet: %q", &b.errs)
	}
}
