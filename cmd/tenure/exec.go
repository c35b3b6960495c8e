package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"example.com/tenure/cmd/tenure/internal/supervise"
)

// A verb is a word of the command line.
type verb struct {
	name    string
	summary string // a line of the overview
	help    string // more than the summary, for 'tenure help VERB'
	// prepare declares the verb's flags and operands and returns what it does
	// once they have been read.
	prepare func(c *call) action
}

// An action is what a verb does. Its error is what exec returns.
type action func(ctx context.Context) error

// A call is one call of the program.
type call struct {
	*flags
	out    *output
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	env    []string
}

// lookup returns the value of a variable in the environment, "" if it is not
// there.
func (c *call) lookup(name string) string {
	value := ""
	for _, entry := range c.env {
		if rest, ok := strings.CutPrefix(entry, name+"="); ok {
			value = rest // the last one counts, as package os/exec has it
		}
	}
	return value
}

// exec carries out one call of the program. What went wrong has been told to
// the user when it returns; [exitCode] turns it into the exit code.
func exec(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) error {
	c := &call{stdin: stdin, stdout: stdout, stderr: stderr, env: env, out: &output{stdout: stdout, stderr: stderr}}
	if len(args) == 0 {
		return c.out.fail(&usageError{text: "which verb?\n\n" + overview()})
	}
	args = verbFirst(args)
	name, args := args[0], args[1:]
	switch name {
	case supervise.Verb:
		return c.out.fail(runSupervisor(args))
	case "help", "-h", "-help", "--help":
		return c.out.fail(c.help(args))
	case "-version", "--version":
		name = "version"
	}
	v, ok := lookupVerb(name)
	if !ok {
		return c.out.fail(noVerb(name))
	}
	return c.out.fail(c.do(ctx, v, args))
}

// verbFirst moves the verb before the flags that stand before it. A word right
// behind a flag is that flag's value, unless the flag is a switch.
func verbFirst(args []string) []string {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if strings.HasPrefix(arg, "-") || i > 0 && takesWord(args[i-1]) {
			continue
		}
		moved := append([]string{arg}, args[:i]...)
		return append(moved, args[i+1:]...)
	}
	return args
}

// takesWord reports whether the argument is a flag whose value is the next one.
func takesWord(arg string) bool {
	if !strings.HasPrefix(arg, "-") || strings.Contains(arg, "=") {
		return false
	}
	name := strings.TrimLeft(arg, "-")
	for _, v := range verbs() {
		c := &call{flags: newFlags(v.name), out: &output{}}
		v.prepare(c)
		c.format()
		if f := c.set.Lookup(name); f != nil {
			b, ok := f.Value.(interface{ IsBoolFlag() bool })
			return !ok || !b.IsBoolFlag()
		}
	}
	return false
}

// do reads the arguments of a verb and carries it out.
func (c *call) do(ctx context.Context, v verb, args []string) error {
	c.out.verb = v.name
	c.flags = newFlags(v.name)
	act := v.prepare(c)
	c.out.format = c.format()
	err := c.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return c.out.text(c.helpText(v))
	}
	if err != nil {
		return err
	}
	return act(ctx)
}

// verbs returns all verbs in the order of the overview.
func verbs() []verb {
	return []verb{
		devVerb, serveVerb,
		acquireVerb, renewVerb, releaseVerb, forgetVerb, getVerb, listVerb, watchVerb,
		runVerb,
		statusVerb, membersVerb, joinVerb, removeVerb, transferVerb,
		versionVerb,
	}
}

func noVerb(name string) error {
	return &usageError{text: fmt.Sprintf("%q is no verb: see 'tenure help'", name)}
}

func lookupVerb(name string) (verb, bool) {
	for _, v := range verbs() {
		if v.name == name {
			return v, true
		}
	}
	return verb{}, false
}
