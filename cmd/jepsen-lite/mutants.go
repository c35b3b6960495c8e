package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"example.com/tenure/jepsen-lite/mutants"
	"example.com/tenure/jepsen-lite/plan"
)

// tryMutants plants defects in the product and says which are caught.
func tryMutants(args []string, env environment) (int, error) {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	only := flags.String("only", "", "")
	cheapest := flags.Int("cheapest", 0, "")
	out := flags.String("out", "", "")
	arena := flags.String("arena", plan.Virtual, "")
	if _, err := parse(flags, args, 0); err != nil {
		return 0, err
	}
	if !slices.Contains(plan.Arenas(), *arena) {
		return 0, fmt.Errorf("%w: --arena %q must be one of %q", errUsage, *arena, plan.Arenas())
	}
	chosen, err := choose(list(*only))
	if err != nil {
		return 0, err
	}
	if *arena == plan.Process {
		if chosen = inProcesses(chosen, env); len(chosen) == 0 {
			return 0, fmt.Errorf("%w: --only names no defect that can be tried with real processes", errUsage)
		}
	}
	switch {
	case *cheapest < 0:
		return 0, fmt.Errorf("%w: --cheapest %d must be at least 1", errUsage, *cheapest)
	case *cheapest > 0:
		chosen = mutants.Cheapest(chosen, *cheapest)
	}
	source, err := mutants.FindSource(".")
	if err != nil {
		return 0, err
	}
	if *out == "" {
		if *out, err = os.MkdirTemp("", "jepsen-lite-mutants-"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(*out)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return tryAll(ctx, &mutants.Runner{Source: source, Dir: *out}, chosen, env)
}

// inProcesses returns the defects as they are tried with real processes, and
// says which can't be.
func inProcesses(defects []mutants.Defect, env environment) []mutants.Defect {
	var there []mutants.Defect
	for i := range defects {
		d, err := defects[i].In(plan.Process)
		if err != nil {
			fmt.Fprintf(env.stderr, "left out: %v\n", err)
			continue
		}
		there = append(there, *d)
	}
	return there
}

// choose returns the defects of the given names; all for none.
func choose(names []string) ([]mutants.Defect, error) {
	all, err := mutants.All()
	if err != nil || len(names) == 0 {
		return all, err
	}
	var chosen []mutants.Defect
	for _, name := range names {
		i := slices.IndexFunc(all, func(d mutants.Defect) bool { return d.Name == name })
		if i < 0 {
			var known []string
			for _, d := range all {
				known = append(known, d.Name)
			}
			return nil, fmt.Errorf("%w: --only %q must be of %s", errUsage, name, strings.Join(known, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func tryAll(ctx context.Context, r *mutants.Runner, defects []mutants.Defect, env environment) (int, error) {
	// All that no longer fit are told before the first takes its time.
	for i := range defects {
		if _, err := r.Source.Plant(&defects[i]); err != nil {
			return 0, err
		}
	}
	var rows []*mutants.Row
	code := exitValid
	for i := range defects {
		fmt.Fprintf(env.stderr, "%d of %d: %s: %s\n", i+1, len(defects), defects[i].Name, defects[i].What)
		row, err := r.Try(ctx, &defects[i])
		if err != nil {
			return 0, err
		}
		rows = append(rows, row)
		fmt.Fprintf(env.stderr, "%s\n", row)
		if !row.OK() {
			code = exitViolation
		}
	}
	return code, mutants.WriteTable(env.stdout, rows)
}
