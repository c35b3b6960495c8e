package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"strings"

	"example.com/tenure/cmd/tenure/internal/supervise"
)

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
