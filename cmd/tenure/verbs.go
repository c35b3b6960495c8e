package main

import (
	"context"
	"fmt"
	"strings"
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
