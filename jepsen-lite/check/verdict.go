package check

import (
	"fmt"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A Verdict is what is known of a run, or what one checker says of it.
type Verdict string

// The verdicts.
const (
	Valid     Verdict = "valid"
	Violated  Verdict = "violation"
	Unknown   Verdict = "unknown" // never to be taken for valid
	Skipped   Verdict = "skipped" // the history was not meant to have what the checker needs
	mostShown         = 20        // violations that a checker tells in full
)

// A Claim is the promise that a violation breaks.
type Claim string

// The claims.
const (
	ClaimA Claim = "A" // timed: one owner at a time
	ClaimB Claim = "B" // untimed: acknowledged data
	ClaimS Claim = "S" // the store's own promises: linearizable, one log, one state
	ClaimL Claim = "L" // liveness: leases last, keys become available, nothing leaks
)

// A Violation is a broken promise and its proof.
type Violation struct {
	Checker  string        `json:"checker"`
	Rule     string        `json:"rule"` // a short name, stable
	Claim    Claim         `json:"claim"`
	Key      string        `json:"key,omitempty"`
	Sentence string        `json:"sentence"`         // who did what from when to when, by which grant
	Amount   string        `json:"amount,omitempty"` // how much: the overlap, the writes that are missing
	From     time.Duration `json:"from"`             // where to mark it on the time line
	To       time.Duration `json:"to"`
	Lines    []int         `json:"lines"` // of the history, that prove it
}

// A Finding is what one checker says.
type Finding struct {
	Checker    string        `json:"checker"`
	Verdict    Verdict       `json:"verdict"`
	Reason     string        `json:"reason,omitempty"` // of unknown and skipped
	Looked     int           `json:"looked"`           // how many things it judged
	Violations []Violation   `json:"violations,omitempty"`
	More       int           `json:"more,omitempty"` // violations beyond those told
	Took       time.Duration `json:"took_ns"`
}

// violate adds a violation whose proof is the events.
func (f *Finding) violate(v Violation, events ...*history.Event) {
	f.Verdict = Violated
	if len(f.Violations) == mostShown {
		f.More++
		return
	}
	v.Checker = f.Checker
	for i, e := range events {
		if e == nil {
			continue
		}
		v.Lines = append(v.Lines, e.Line)
		if i == 0 && v.From == 0 && v.To == 0 {
			v.From, v.To = e.T, e.T
		}
	}
	f.Violations = append(f.Violations, v)
}

// unknown says that nothing can be said, unless something bad was found.
func (f *Finding) unknown(format string, args ...any) {
	if f.Verdict != Violated {
		f.Verdict, f.Reason = Unknown, fmt.Sprintf(format, args...)
	}
}

// at writes an instant of the run for people.
func at(t time.Duration) string {
	if t == history.Never {
		return "the end"
	}
	return fmt.Sprintf("%.6fs", t.Seconds())
}
