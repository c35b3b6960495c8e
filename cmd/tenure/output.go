package main

// The rules of what the program prints:
//
//   - Standard output has answers and nothing else. What went wrong, what to
//     do about it and how things go is on standard error. 'run' prints nothing
//     at all on standard output: it is the command's.
//   - With -o json every answer is one JSON object a line, also where an error
//     is the answer. Then standard error has nothing but logs, in JSON as well.
//   - Otherwise answers are aligned columns under a heading, or plain
//     sentences. A cell without a value is a dash.
//   - An error is a line of its own that starts with 'tenure VERB:' and names
//     the key, flag or node, the value and the bound. Where there is something
//     to do about it, the next line says what.
//   - No colour, no progress bars, no banners: the output is read in logs.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"example.com/tenure"
	"example.com/tenure/internal/httpapi"
)

// Formats of the output.
const (
	formatTable = "table"
	formatJSON  = "json"
)

// An output is where one call's answers and errors go.
type output struct {
	stdout io.Writer
	stderr io.Writer
	verb   string
	format *string // nil before the flags were declared
}

func (o *output) json() bool { return o.format != nil && *o.format == formatJSON }

// text prints a text as it is.
func (o *output) text(text string) error {
	_, err := io.WriteString(o.stdout, text)
	return err
}

// object prints one JSON object.
func (o *output) object(value any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // keys are to be found as they are
	if err := enc.Encode(value); err != nil {
		return err
	}
	_, err := o.stdout.Write(line.Bytes())
	return err
}

// A table is rows under a heading.
type table struct {
	heading []string
	rows    [][]string
}

// print prints the table.
func (o *output) table(t table) error {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(t.heading, "\t"))
	for _, row := range t.rows {
		for i, cell := range row {
			if cell == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return o.text(text.String())
}

// fail tells the user of an error, and returns it.
func (o *output) fail(err error) error {
	var ended *commandError
	switch {
	case err == nil, errors.As(err, &ended) && ended.err == nil:
	case o.json():
		if bad := o.object(failure(err)); bad != nil {
			return errors.Join(err, bad)
		}
	default:
		tell(o.stderr, o.verb, err)
	}
	return err
}

// note tells the user how things go.
func (o *output) note(format string, args ...any) {
	if !o.json() {
		fmt.Fprintf(o.stderr, "tenure %s: %s\n", o.verb, fmt.Sprintf(format, args...))
	}
}

// codeFailed is what a failure that is none of the API's refusals is called.
const codeFailed = "failed"

// failure returns an error as an object.
func failure(err error) httpapi.Refusal {
	var (
		usage *usageError
		ended *commandError
	)
	switch {
	case errors.As(err, &ended) && ended.code == exitLost:
		return httpapi.Refusal{Code: httpapi.CodeLost, Message: err.Error()}
	case errors.As(err, &usage):
		refusal := httpapi.Refusal{Code: httpapi.CodeInvalid, Message: usage.Error()}
		if usage.invalid != nil {
			refusal.Field, refusal.Value, refusal.Bound = usage.invalid.Field, usage.invalid.Value, usage.invalid.Bound
		}
		return refusal
	case refuses(err):
		refusal := httpapi.RefusalOf(err)
		var open *unfinishedError
		if errors.As(err, &open) {
			refusal.Owner, refusal.RequestID = open.request.Owner, open.request.RequestID
		}
		return refusal
	}
	return httpapi.Refusal{Code: codeFailed, Message: err.Error()}
}

// refuses reports whether err is one of the API's refusals.
func refuses(err error) bool {
	for _, kind := range []error{tenure.ErrHeld, tenure.ErrLost, tenure.ErrUnavailable, tenure.ErrInvalid} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
