package main

import (
	"errors"
	"fmt"
	"io"

	"example.com/tenure"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitHeld        = 3 // another tenure has the key
	exitLost        = 4 // the tenure is over; of run: the command was stopped by the lease
	exitUnavailable = 5 // no answer came
)

// exitCode returns the exit code that an error stands for.
func exitCode(err error) int {
	var (
		usage *usageError
		ended *commandError
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &ended):
		return ended.code
	case errors.As(err, &usage):
		return exitUsage
	// Held counts before unavailable, of which it can be the last word: a wait
	// in line that ended. But the cause of an unavailable can be anything.
	case errors.Is(err, tenure.ErrHeld) && !isUnavailable(err):
		return exitHeld
	case isUnavailable(err):
		return exitUnavailable
	case errors.Is(err, tenure.ErrInvalid):
		return exitUsage
	case errors.Is(err, tenure.ErrLost), errors.Is(err, tenure.ErrFenced):
		return exitLost
	}
	return exitFailed
}

func isUnavailable(err error) bool {
	var unavailable *tenure.UnavailableError
	return errors.As(err, &unavailable)
}

// A commandError is how the command under 'tenure run' ended, where that is
// what the program's exit code tells.
type commandError struct {
	code int
	err  error // to tell the user, nil if the command's own ending says it all
}

func (e *commandError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("the command ended with exit code %d", e.code)
	}
	return e.err.Error()
}

// Unwrap returns what there is to tell.
func (e *commandError) Unwrap() error { return e.err }

// A usageError is a call that can't be carried out as it was written.
type usageError struct {
	verb    string               // to look up, "" if none was recognized
	what    string               // the flag as it is written, the operand or the variable; "" if text says it all
	invalid *tenure.InvalidError // the value and its bound, or nil
	text    string               // else
}

func (e *usageError) Error() string {
	if e.invalid == nil {
		return e.text
	}
	return fmt.Sprintf("%s %s: must be %s", e.what, e.invalid.Value, e.invalid.Bound)
}

// Unwrap returns the error of the value, if there is one.
func (e *usageError) Unwrap() error {
	if e.invalid == nil {
		return nil
	}
	return e.invalid
}

// hint says where to read on.
func (e *usageError) hint() string {
	if e.verb == "" {
		return ""
	}
	return fmt.Sprintf("see 'tenure help %s'", e.verb)
}

// isInvalid reports whether err says that a value of the field is malformed.
func isInvalid(err error, field string) bool {
	var invalid *tenure.InvalidError
	return errors.As(err, &invalid) && invalid.Field == field
}

// hint returns what to do about an error, "" if its message says it.
func hint(err error) string {
	var adviser interface{ hint() string }
	if errors.As(err, &adviser) {
		return adviser.hint()
	}
	var unavailable *tenure.UnavailableError
	if errors.As(err, &unavailable) && !unavailable.MaybeApplied {
		return "is --addr (or TENURE_ADDR) right, and are most of the nodes up? 'tenure status' asks one of them"
	}
	return ""
}

// tell writes an error for people to read.
func tell(w io.Writer, verb string, err error) {
	name := "tenure"
	if verb != "" {
		name += " " + verb
	}
	fmt.Fprintf(w, "%s: %v\n", name, err)
	if h := hint(err); h != "" {
		fmt.Fprintf(w, "%s: %s\n", name, h)
	}
}
