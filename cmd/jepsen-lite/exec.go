package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	jepsenlite "example.com/tenure/jepsen-lite"
	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/report"
)

// errUsage is wrong usage, which the text after it explains.
var errUsage = errors.New("wrong usage")

var verbs = map[string]func(args []string, env environment) (int, error){
	"run":     run,
	"replay":  replay,
	"check":   checkHistory,
	"mutants": tryMutants,
}

// exec runs a verb and returns its exit code.
func exec(args []string, env environment) int {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "--help"}, args[0]) {
		out, code := env.stdout, exitValid
		if len(args) == 0 {
			out, code = env.stderr, exitUsage
		}
		fmt.Fprintf(out, usage, strings.Join(plan.Workloads(), ", "), strings.Join(plan.Kinds(), ", "))
		return code
	}
	verb, known := verbs[args[0]]
	if !known {
		fmt.Fprintf(env.stderr, "jepsen-lite: unknown verb %q: see jepsen-lite help\n", args[0])
		return exitUsage
	}
	code, err := verb(args[1:], env)
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintf(env.stderr, "jepsen-lite %s: %v: see jepsen-lite help\n", args[0], err)
		return exitUsage
	case err != nil:
		fmt.Fprintf(env.stderr, "jepsen-lite %s: %v\n", args[0], err)
		return exitCrashed
	}
	return code
}

// parse parses flags that may stand before, between and after n arguments.
func parse(flags *flag.FlagSet, args []string, n int) ([]string, error) {
	flags.SetOutput(io.Discard)
	var rest []string
	for {
		if err := flags.Parse(args); err != nil {
			return nil, fmt.Errorf("%w: %w", errUsage, err)
		}
		if flags.NArg() == 0 {
			break
		}
		rest, args = append(rest, flags.Arg(0)), flags.Args()[1:]
	}
	if len(rest) != n {
		return nil, fmt.Errorf("%w: %d arguments where there must be %d", errUsage, len(rest), n)
	}
	return rest, nil
}

func run(args []string, env environment) (int, error) {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	arena := flags.String("arena", jepsenlite.Virtual, "")
	workload := flags.String("workload", "", "")
	faults := flags.String("faults", "", "")
	duration := flags.Duration("duration", time.Minute, "")
	seed := flags.Uint64("seed", anySeed(), "")
	runs := flags.Uint64("runs", 1, "")
	timed := flags.Bool("timed", false, "")
	out := flags.String("out", "", "")
	if _, err := parse(flags, args, 0); err != nil {
		return 0, err
	}
	o := plan.Options{Arena: *arena, Safety: *duration, Kinds: list(*faults), Workload: list(*workload), Timed: *timed}
	if err := validate(o, *runs, *arena); err != nil {
		return 0, err
	}
	return overSeeds(*seed, *runs, env, func(t *testing.T, seed uint64) (*report.Report, error) {
		return carryOut(t, plan.Draw(seed, o), folder(*out, seed, *runs), env)
	}), nil
}

// validate refuses what no plan can be drawn of.
func validate(o plan.Options, runs uint64, arena string) error {
	for _, kind := range o.Kinds {
		if !slices.Contains(plan.Kinds(), kind) {
			return fmt.Errorf("%w: --faults %q must be of %q", errUsage, kind, plan.Kinds())
		}
	}
	switch {
	case !slices.Contains(jepsenlite.Arenas(), arena):
		return fmt.Errorf("%w: --arena %q must be one of %q", errUsage, arena, jepsenlite.Arenas())
	case runs == 0:
		return fmt.Errorf("%w: --runs 0 must be at least 1", errUsage)
	}
	if err := plan.Draw(1, o).Validate(); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return nil
}

// overSeeds carries out one run a seed until one is a violation, and returns
// the worst exit code.
func overSeeds(seed, runs uint64, env environment, one func(t *testing.T, seed uint64) (*report.Report, error)) int {
	return env.test(func(t *testing.T) int {
		worst := exitValid
		for s := seed; s < seed+runs; s++ {
			r, err := one(t, s)
			if err != nil {
				fmt.Fprintf(env.stderr, "jepsen-lite: seed %d: %v\n", s, err)
				return exitCrashed
			}
			switch r.Judgement.Verdict {
			case check.Violated:
				return exitViolation
			case check.Unknown:
				worst = exitUnknown
			}
		}
		return worst
	})
}

func carryOut(t *testing.T, p *plan.Plan, dir string, env environment) (*report.Report, error) {
	command := "jepsen-lite replay " + dir
	r, err := jepsenlite.RunPlan(t, p, jepsenlite.Options{Dir: dir, Out: env.stdout, Commit: commit(), Replay: command})
	if err == nil {
		fmt.Fprintf(env.stdout, "replay: %s\n", command)
	}
	return r, err
}

func replay(args []string, env environment) (int, error) {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	out := flags.String("out", "", "")
	dirs, err := parse(flags, args, 1)
	if err != nil {
		return 0, err
	}
	p, err := plan.ReadFile(filepath.Join(dirs[0], jepsenlite.PlanFile))
	if err != nil {
		return 0, err
	}
	if *out == "" {
		*out = filepath.Join(dirs[0], "replay-"+time.Now().UTC().Format("20060102T150405.000"))
	}
	return overSeeds(p.Seed, 1, env, func(t *testing.T, _ uint64) (*report.Report, error) { return carryOut(t, p, *out, env) }), nil
}

func checkHistory(args []string, env environment) (int, error) {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	out := flags.String("out", "", "")
	paths, err := parse(flags, args, 1)
	if err != nil {
		return 0, err
	}
	r, err := jepsenlite.Judge(paths[0], *out, env.stdout)
	if err != nil {
		return 0, err
	}
	switch r.Judgement.Verdict {
	case check.Violated:
		return exitViolation, nil
	case check.Unknown:
		return exitUnknown, nil
	}
	return exitValid, nil
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// folder returns where a run goes.
func folder(out string, seed, runs uint64) string {
	name := fmt.Sprintf("seed-%d", seed)
	switch {
	case out == "":
		return filepath.Join("jepsen-lite-out", name)
	case runs > 1:
		return filepath.Join(out, name)
	}
	return out
}

// anySeed returns a seed that no one has chosen, short enough to be typed.
func anySeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) % 1e9
}

// commit returns what the binary was built from, if it knows.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
