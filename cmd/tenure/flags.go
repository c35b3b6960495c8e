package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"example.com/tenure"
)

// flags reads the arguments of one verb: package flag, but that flags may stand
// anywhere before "--", and that an error names the flag, the value and the
// bound.
type flags struct {
	verb     string
	set      *flag.FlagSet
	rows     []flagRow
	operands []*operand
	tail     *[]string // takes what follows "--"; nil if it is operands, too
	tailName string
	checks   []func() error // made once all has been read
	refused  error          // why a value was refused, the first one
}

// A flagRow describes a flag in the help.
type flagRow struct {
	name     string
	value    string // placeholder, "" for a switch
	usage    string
	required bool
}

// An operand is an argument that is not a flag.
type operand struct {
	name     string
	optional bool
	check    func(string) error // nil takes everything
	value    string
	given    bool
}

func newFlags(verb string) *flags {
	set := flag.NewFlagSet(verb, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	return &flags{verb: verb, set: set}
}

// parse reads the arguments. The error is a [*usageError], or [flag.ErrHelp].
func (f *flags) parse(args []string) error {
	args, rest := split(args)
	var operands []string
	for {
		if err := f.set.Parse(args); err != nil {
			return f.explain(err)
		}
		args = f.set.Args()
		if len(args) == 0 {
			break
		}
		operands, args = append(operands, args[0]), args[1:]
	}
	if f.refused != nil {
		return f.refused
	}
	if f.tail != nil {
		*f.tail = rest
	} else {
		operands = append(operands, rest...)
	}
	if err := f.take(operands); err != nil {
		return err
	}
	return f.check()
}

// split parts arguments at the first "--".
func split(args []string) (before, after []string) {
	for i, arg := range args {
		if arg == "--" {
			return args[:i], args[i+1:]
		}
	}
	return args, nil
}

// explain turns what package flag says into the words of this program.
func (f *flags) explain(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	text := err.Error()
	for _, words := range []struct{ theirs, ours string }{
		{"flag provided but not defined: -", "there is no flag %s"},
		{"flag needs an argument: -", "%s needs a value"},
	} {
		if name, ok := strings.CutPrefix(text, words.theirs); ok {
			text = fmt.Sprintf(words.ours, dashed(strings.TrimPrefix(name, "-")))
		}
	}
	return f.usage("%s", text)
}

// dashed returns a flag as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

func (f *flags) usage(format string, args ...any) *usageError {
	return &usageError{verb: f.verb, text: fmt.Sprintf(format, args...)}
}

// take hands the operands out.
func (f *flags) take(values []string) error {
	for _, o := range f.operands {
		if len(values) == 0 {
			if o.optional {
				continue
			}
			return f.usage("%s is missing", o.name)
		}
		o.value, o.given, values = values[0], true, values[1:]
		if o.check == nil {
			continue
		}
		if err := f.refuse(o.name, o.check(o.value)); err != nil {
			return err
		}
	}
	if len(values) > 0 {
		return f.usage("%q is one argument too many", values[0])
	}
	return nil
}

// check looks for what is missing and what doesn't go together.
func (f *flags) check() error {
	given := map[string]bool{}
	f.set.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	for _, row := range f.rows {
		if row.required && !given[row.name] {
			return f.usage("%s %s is missing: %s", dashed(row.name), row.value, row.usage)
		}
	}
	for _, check := range f.checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// given reports whether a flag was written.
func (f *flags) given(name string) bool {
	found := false
	f.set.Visit(func(fl *flag.Flag) { found = found || fl.Name == name })
	return found
}

// afterwards adds a check to be made once all has been read.
func (f *flags) afterwards(check func() error) { f.checks = append(f.checks, check) }

// refuse returns the error of a value as one that names the flag or operand.
func (f *flags) refuse(what string, err error) error {
	if err == nil {
		return nil
	}
	var invalid *tenure.InvalidError
	if errors.As(err, &invalid) {
		return &usageError{verb: f.verb, what: what, invalid: invalid}
	}
	return f.usage("%s: %v", what, err)
}
