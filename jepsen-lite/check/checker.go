package check

import (
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A Checker judges one property of a history.
type Checker struct {
	Name  string
	Sees  string // what it would find, in a sentence
	Blind string // what it can't find, in a sentence
	Needs string // what an arena must tell, one of history's Tells constants
	Timed bool   // it is of claim A, and off where clocks leave the margin

	check func(h *history.History, f *Finding)
}

// All are the checkers, in the order in which their findings are told.
var All = []Checker{
	Overlap, Epochs, Gates, Data, Forgets, Linear, LogOrder, Truth, Checksums, Causeless, Available, Conduct, Leaks, Reigns, Kept,
}

// Check judges h.
func (c *Checker) Check(h *history.History) Finding {
	f := Finding{Checker: c.Name, Verdict: Valid}
	if c.Timed && !h.Terms.Timed {
		f.Verdict, f.Reason = Skipped, "faults beyond the margin: claim A is off"
		return f
	}
	start := time.Now()
	c.check(h, &f)
	f.Took = time.Since(start)
	if f.Looked > 0 || f.Verdict != Valid {
		return f
	}
	if h.Terms.Tell(c.Needs) {
		f.unknown("the arena tells %s, but nothing to judge happened", c.Needs)
	} else {
		f.Verdict, f.Reason = Skipped, "the arena does not tell "+c.Needs
	}
	return f
}

// A Judgement is what all checkers together say of a run.
type Judgement struct {
	Verdict  Verdict   `json:"verdict"`
	Reasons  []string  `json:"reasons,omitempty"` // of a verdict that is not valid
	Findings []Finding `json:"findings"`
	Coverage []Covered `json:"coverage"`
}

// Judge runs all checkers. A violation outweighs all that is unknown.
func Judge(h *history.History) Judgement {
	j := Judgement{Verdict: Valid, Coverage: Cover(h)}
	for i := range All {
		j.Findings = append(j.Findings, All[i].Check(h))
	}
	j.weigh(h)
	return j
}

// Violations returns the violations of all checkers.
func (j *Judgement) Violations() []Violation {
	var all []Violation
	for _, f := range j.Findings {
		all = append(all, f.Violations...)
	}
	return all
}

func (j *Judgement) weigh(h *history.History) {
	for _, f := range j.Findings {
		if f.Verdict == Violated {
			j.Verdict = Violated
			j.Reasons = append(j.Reasons, f.Checker+": "+f.Violations[0].Sentence)
		}
	}
	if j.Verdict == Violated {
		return
	}
	for _, f := range j.Findings {
		if f.Verdict == Unknown {
			j.doubt(f.Checker + ": " + f.Reason)
		}
	}
	if h.Torn || !h.Ended() {
		j.doubt("the run was cut off: it has no end event")
	}
	for _, c := range j.Coverage {
		if c.Seen < c.Wanted {
			j.doubt(c.lack())
		}
	}
}

func (j *Judgement) doubt(reason string) {
	j.Verdict = Unknown
	j.Reasons = append(j.Reasons, reason)
}
