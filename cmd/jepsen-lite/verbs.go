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
	"strconv"
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

// dispatch runs a verb and returns its exit code.
func dispatch(args []string, env environment) int {
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
	arena := flags.String("arena", plan.Virtual, "")
	workload := flags.String("workload", "", "")
	faults := flags.String("faults", "", "")
	duration := flags.Duration("duration", time.Minute, "")
	seed := flags.Uint64("seed", anySeed(), "")
	runs := flags.Uint64("runs", 1, "")
	lasting := flags.Duration("for", 0, "")
	timed := flags.Bool("timed", false, "")
	jobs := flags.Int("jobs", 0, "")
	keep := flags.Bool("keep", false, "")
	out := flags.String("out", "", "")
	if _, err := parse(flags, args, 0); err != nil {
		return 0, err
	}
	o := plan.Options{Arena: *arena, Safety: *duration, Kinds: list(*faults), Workload: list(*workload), Timed: *timed}
	if err := validate(o, *runs, *arena); err != nil {
		return 0, err
	}
	if *jobs == 0 {
		*jobs = runsAtOnce(*arena)
	}
	if err := checkSoak(*runs, *jobs); err != nil {
		return 0, err
	}
	if *lasting < 0 {
		return 0, fmt.Errorf("%w: --for %v must not be negative", errUsage, *lasting)
	}
	if *lasting > 0 {
		*runs = endless
	}
	if *runs == 1 {
		return single(plan.Draw(*seed, o), folder(*out, *seed, 1), env), nil
	}
	s := &soak{env: env, jobs: *jobs, keep: *keep, lasting: *lasting}
	s.draw = func(seed uint64) task {
		dir := folder(*out, seed, *runs)
		return task{plan.Draw(seed, o), dir, []string{
			"run", "--seed", number(seed), "--out", dir, "--arena", *arena, "--workload", *workload, "--faults", *faults,
			"--duration", duration.String(), "--timed=" + strconv.FormatBool(*timed),
		}}
	}
	return s.run(*seed, *runs), nil
}

// validate refuses what no plan can be drawn of.
func validate(o plan.Options, runs uint64, arena string) error {
	for _, kind := range o.Kinds {
		if !slices.Contains(plan.Kinds(), kind) {
			return fmt.Errorf("%w: --faults %q must be of %q", errUsage, kind, plan.Kinds())
		}
	}
	switch {
	case !slices.Contains(plan.Arenas(), arena):
		return fmt.Errorf("%w: --arena %q must be one of %q", errUsage, arena, plan.Arenas())
	}
	if err := plan.Draw(1, o).Validate(); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return nil
}

// single carries out one run and returns its exit code.
func single(p *plan.Plan, dir string, env environment) int {
	return env.test(func(t *testing.T) int {
		r, err := carryOut(t, p, dir, env.stdout)
		if err != nil {
			fmt.Fprintf(env.stderr, "jepsen-lite: seed %d: %v\n", p.Seed, err)
			return exitCrashed
		}
		return exitOf(r.Judgement.Verdict)
	})
}

func exitOf(v check.Verdict) int {
	switch v {
	case check.Violated:
		return exitViolation
	case check.Unknown:
		return exitUnknown
	}
	return exitValid
}

func carryOut(t *testing.T, p *plan.Plan, dir string, out io.Writer) (*report.Report, error) {
	command := "jepsen-lite replay " + dir
	r, err := jepsenlite.RunPlan(t, p, jepsenlite.Options{Dir: dir, Out: out, Commit: commit(), Replay: command})
	if err == nil {
		fmt.Fprintf(out, "replay: %s\n", command)
	}
	return r, err
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
	return exitOf(r.Judgement.Verdict), nil
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
