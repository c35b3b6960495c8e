package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	jepsenlite "example.com/tenure/jepsen-lite"
	"example.com/tenure/jepsen-lite/plan"
)

// replay carries out a plan that was written down, once or many times.
func replay(args []string, env environment) (int, error) {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	runs := flags.Uint64("runs", 1, "")
	jobs := flags.Int("jobs", 0, "")
	keep := flags.Bool("keep", false, "")
	out := flags.String("out", "", "")
	paths, err := parse(flags, args, 1)
	if err != nil {
		return 0, err
	}
	p, dir, err := planAt(paths[0])
	if err != nil {
		return 0, err
	}
	if *jobs == 0 {
		*jobs = runsAtOnce(p.Arena)
	}
	if err := checkSoak(*runs, *jobs); err != nil {
		return 0, err
	}
	if *out == "" {
		*out = filepath.Join(dir, "replay-"+time.Now().UTC().Format("20060102T150405.000"))
	}
	if *runs == 1 {
		return single(p, *out, env), nil
	}
	s := &soak{env: env, jobs: *jobs, keep: *keep}
	s.draw = func(n uint64) task {
		dir := filepath.Join(*out, "run-"+number(n))
		return task{p, dir, []string{"replay", paths[0], "--out", dir}}
	}
	return s.run(1, *runs), nil
}

// planAt reads the plan in a run's folder, or in a file, and returns where its
// replays go.
func planAt(path string) (p *plan.Plan, dir string, err error) {
	if info, statErr := os.Stat(path); statErr == nil && !info.IsDir() {
		p, err = plan.ReadFile(path)
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		return p, filepath.Join("jepsen-lite-out", name), err
	}
	p, err = plan.ReadFile(filepath.Join(path, jepsenlite.PlanFile))
	return p, path, err
}

// runsAtOnce returns how many runs go on at once where nobody said. Those of
// real processes go on alone: they would slow each other down.
func runsAtOnce(arena string) int {
	if arena == plan.Process {
		return 1
	}
	return runtime.NumCPU()
}

// checkSoak refuses numbers of runs and of those at once that make no sense.
func checkSoak(runs uint64, jobs int) error {
	switch {
	case runs == 0:
		return fmt.Errorf("%w: --runs 0 must be at least 1", errUsage)
	case jobs < 1 || jobs > maxJobs:
		return fmt.Errorf("%w: --jobs %d must be from 1 to %d", errUsage, jobs, maxJobs)
	}
	return nil
}

// maxJobs bounds the runs that go on at once, each of which keeps a processor
// busy.
const maxJobs = 256
