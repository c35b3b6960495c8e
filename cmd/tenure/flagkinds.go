package main

import (
	"fmt"
	"strconv"
	"time"

	"example.com/tenure"
)

// A setter is a flag's value as package flag wants it.
type setter struct {
	set    func(string) error
	toggle bool
}

func (s setter) String() string     { return "" }
func (s setter) Set(v string) error { return s.set(v) }
func (s setter) IsBoolFlag() bool   { return s.toggle }

// add declares a flag. A value is refused with an [*tenure.InvalidError]; the
// reading goes on, so that the format in which the user wants to hear of it is
// known at the end.
func (f *flags) add(row flagRow, set func(string) error) {
	f.rows = append(f.rows, row)
	f.set.Var(setter{toggle: row.value == "", set: func(value string) error {
		if err := f.refuse(dashed(row.name), set(value)); err != nil && f.refused == nil {
			f.refused = err
		}
		return nil
	}}, row.name, row.usage)
}

// invalid returns the error of a malformed value.
func invalid(field, value, bound string) error {
	return &tenure.InvalidError{Field: field, Value: value, Bound: bound}
}

// toggle declares a flag without a value.
func (f *flags) toggle(name, usage string) *bool {
	value := new(bool)
	f.add(flagRow{name: name, usage: usage}, func(text string) error {
		parsed, err := strconv.ParseBool(text)
		if err != nil {
			return invalid(name, strconv.Quote(text), "left out, or true or false")
		}
		*value = parsed
		return nil
	})
	return value
}

// text declares a flag of any text that check allows.
func (f *flags) text(row flagRow, check func(string) error) *string {
	value := new(string)
	f.add(row, func(text string) error {
		*value = text
		return check(text)
	})
	return value
}

// anyText allows any text.
func anyText(string) error { return nil }

// duration declares a flag of a length of time. The fallback is shown in the
// help unless it is negative.
func (f *flags) duration(name, usage string, fallback time.Duration, check func(time.Duration) error) *time.Duration {
	value := &fallback
	if fallback >= 0 {
		usage += fmt.Sprintf(" (default %v)", fallback)
	}
	f.add(flagRow{name: name, value: "D", usage: usage}, func(text string) error {
		parsed, err := time.ParseDuration(text)
		if err != nil {
			return invalid(name, strconv.Quote(text), "a duration such as 500ms, 10s or 1m30s")
		}
		*value = parsed
		return check(parsed)
	})
	return value
}

// between returns a check of a duration.
func between(name string, least, most time.Duration) func(time.Duration) error {
	return func(d time.Duration) error {
		if d < least || d > most {
			return invalid(name, d.String(), fmt.Sprintf("from %v to %v", least, most))
		}
		return nil
	}
}

// count declares a flag of a whole number.
func (f *flags) count(name, usage string, fallback, least, most int) *int {
	value := &fallback
	f.add(flagRow{name: name, value: "N", usage: usage}, func(text string) error {
		parsed, err := strconv.Atoi(text)
		if err != nil || parsed < least || parsed > most {
			return invalid(name, strconv.Quote(text), fmt.Sprintf("a whole number from %d to %d", least, most))
		}
		*value = parsed
		return nil
	})
	return value
}

// operand declares the next argument that is not a flag.
func (f *flags) operand(name string, check func(string) error) *operand {
	o := &operand{name: name, check: check}
	f.operands = append(f.operands, o)
	return o
}

// option declares a next argument that may be left out, and so must all that
// follow it.
func (f *flags) option(name string, check func(string) error) *operand {
	o := f.operand(name, check)
	o.optional = true
	return o
}
