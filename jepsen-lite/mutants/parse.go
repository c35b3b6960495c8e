package mutants

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/plan"
)

// parse reads a defect, but for its name.
func parse(text string) (*Defect, error) {
	d := &Defect{Seeds: defaultSeeds, draw: plan.Options{Safety: defaultDuration, Workload: []string{plan.Contended}}}
	lines := strings.SplitAfter(text, "\n")
	n := 0
	for ; n < len(lines) && !strings.HasPrefix(lines[n], "-- "); n++ {
		line := strings.TrimSpace(lines[n])
		if line == "" {
			continue
		}
		field, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("line %d, %q, is no 'field: value'", n+1, line)
		}
		if err := d.set(field, strings.TrimSpace(value)); err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", n+1, field, err)
		}
	}
	if err := d.parseChanges(lines[n:]); err != nil {
		return nil, err
	}
	return d, d.validate()
}

func (d *Defect) set(field, value string) (err error) {
	switch field {
	case "what":
		d.What = value
	case "expects":
		d.Expects = strings.Split(value, ",")
	case "faults":
		d.draw.Kinds = strings.Split(value, ",")
	case "workload":
		d.draw.Workload = strings.Split(value, ",")
	case "plan":
		d.fixed, err = readPlan(value)
	case "stories":
		d.Stories, d.Seeds, d.Expects = value, 1, []string{Stories}
	case "only-virtual":
		d.Virtual = value
	case "takes":
		d.Takes, err = time.ParseDuration(value)
	case "duration":
		d.draw.Safety, err = time.ParseDuration(value)
	case "timed":
		d.draw.Timed, err = strconv.ParseBool(value)
	case "seeds":
		d.Seeds, err = strconv.Atoi(value)
	case "keys":
		d.keys, err = strconv.Atoi(value)
	case "replicas":
		d.replicas, err = strconv.Atoi(value)
	case "snapshot":
		d.snapshot, err = strconv.ParseUint(value, 10, 64)
	default:
		err = errors.New("no such field")
	}
	return err
}

// readPlan reads a plan that was written by hand, next to the defects.
func readPlan(name string) (*plan.Plan, error) {
	text, err := files.ReadFile("plans/" + name + ".json")
	if err != nil {
		return nil, err
	}
	return plan.Parse(text)
}

// parseChanges reads pairs of '-- FILE: find --' and '-- FILE: replace --', each
// with the text that follows it. The last line break of a text is not part of
// it.
func (d *Defect) parseChanges(lines []string) error {
	for len(lines) > 0 {
		file, find, rest, err := section(lines, "find")
		if err != nil {
			return err
		}
		same, replace, rest, err := section(rest, "replace")
		if err != nil {
			return err
		}
		if same != file {
			return fmt.Errorf("what to find in %s is followed by what to replace in %s", file, same)
		}
		d.Changes = append(d.Changes, Change{File: file, Find: find, Replace: replace})
		lines = rest
	}
	return nil
}

func section(lines []string, what string) (file, text string, rest []string, err error) {
	if len(lines) == 0 {
		return "", "", nil, fmt.Errorf("it ends where '-- FILE: %s --' must follow", what)
	}
	head := strings.TrimSpace(lines[0])
	file, ok := strings.CutSuffix(strings.TrimPrefix(head, "-- "), ": "+what+" --")
	if !ok {
		return "", "", nil, fmt.Errorf("%q stands where '-- FILE: %s --' must", head, what)
	}
	lines = lines[1:]
	end := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "-- ") })
	if end < 0 {
		end = len(lines)
	}
	return file, strings.TrimSuffix(strings.Join(lines[:end], ""), "\n"), lines[end:], nil
}

func (d *Defect) validate() error {
	switch {
	case d.What == "":
		return errors.New("it does not say what is broken")
	case len(d.Changes) == 0:
		return errors.New("it changes nothing")
	case len(d.Expects) == 0:
		return errors.New("it names no checker that should see it")
	case d.Seeds < 1:
		return fmt.Errorf("%d seeds must be at least 1", d.Seeds)
	}
	for _, name := range d.Expects {
		if !slices.ContainsFunc(check.All, func(c check.Checker) bool { return c.Name == name }) && name != Stories {
			return fmt.Errorf("there is no checker %q", name)
		}
	}
	if d.Stories != "" {
		return nil
	}
	return d.Plan(1).Validate()
}
