package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

const (
	linesAround = 20 // of the history, before and after the proof
	mostChains  = 6  // tenures whose chain is told
	mostLinks   = 12 // steps of one tenure's chain
)

// An Explanation is all that helps a person to understand a violation.
type Explanation struct {
	Violation
	Broken  string   `json:"broken"`           // the claim in words
	Chains  []string `json:"chains,omitempty"` // of each tenure near it: sent, granted, fence, gates, ack
	Faults  []string `json:"faults,omitempty"` // that stood from two TTLs before it
	Leaders []string `json:"leaders,omitempty"`
	Clocks  []string `json:"clocks,omitempty"` // that ran with another rate than true time, stood still or jumped
	Logs    []string `json:"logs,omitempty"`   // of the nodes and of who took part, in the run's folder
	Around  []string `json:"around"`           // lines of the history, the proof marked with >
	Run     string   `json:"run"`
	Replay  string   `json:"replay,omitempty"`
}

var claims = map[Claim]string{
	ClaimA: "claim A, timed exclusivity: one owner at a time while clocks keep their rates within the margin",
	ClaimB: "claim B, data: no acknowledged write is lost, nothing of a dead epoch is read back, whatever is frozen",
	ClaimS: "the store: one log, linearizable answers, equal replicas, true watches",
	ClaimL: "liveness: leases last, keys become available again, nothing is left behind",
}

// Explain gathers what a history tells around a violation.
func Explain(h *history.History, v Violation) Explanation {
	from, to := v.From-2*h.Terms.TTL, v.To
	x := Explanation{Violation: v, Broken: claims[v.Claim], Replay: h.Terms.Replay}
	x.Run = fmt.Sprintf("seed %d, arena %s", h.Terms.Seed, h.Terms.Arena)
	if h.Terms.Commit != "" {
		x.Run += ", commit " + h.Terms.Commit
	}
	x.Chains = append(chains(h, v.Key, from, to), reigns(h, v.Key, from, to)...)
	for _, s := range h.Faults {
		if s.From > to || s.To < from {
			continue
		}
		x.Faults = append(x.Faults, describeFault(s))
		if clock := describeClock(s.Event); clock != "" {
			x.Clocks = append(x.Clocks, fmt.Sprintf("%s: %s", strings.Join(s.Event.Targets, ", "), clock))
		}
	}
	x.Leaders = leaders(h, from, to)
	x.Logs = logs(h, v)
	x.Around = around(h, v)
	return x
}

func describeFault(s history.Span) string {
	text := fmt.Sprintf("%s of %s from %s to %s", s.Event.F, strings.Join(s.Event.Targets, ", "), at(s.From), at(s.To))
	if s.Event.Msg != "" {
		text += ": " + s.Event.Msg
	}
	return text
}

// describeClock tells what a fault does to clocks, "" if nothing.
func describeClock(e *history.Event) string {
	switch {
	case e.F == "clock-jump":
		return "jumped ahead"
	case e.F == "suspend":
		return "stood still, or counted the time of a suspension"
	case e.F == "clock" && e.Rate == 0:
		return "stood still"
	case e.Rate != 0:
		return fmt.Sprintf("rate %v", e.Rate)
	}
	return ""
}

// logs names the files in which the nodes, and the replicas in the proof, log.
func logs(h *history.History, v Violation) []string {
	hosts := make(map[string]bool)
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Leader, e.Kind == history.Sum:
			hosts[e.Node] = true
		case strings.HasPrefix(e.Client, "r") && !strings.HasPrefix(e.Client, "reader") && slices.Contains(v.Lines, e.Line):
			hosts[e.Client] = true
		}
	}
	var files []string
	for _, host := range keysOf(hosts) {
		files = append(files, "log/"+host+".log")
	}
	return files
}

// chains tells each tenure of a key that was held between two instants, step
// by step.
func chains(h *history.History, key string, from, to time.Duration) []string {
	var out []string
	for _, t := range Tenures(h)[key] {
		if t.From > to || t.To < from || len(out) == mostChains {
			continue
		}
		out = append(out, t.chain(from))
	}
	return out
}

func (t *Tenure) chain(from time.Duration) string {
	var links []string
	for i := range t.Holds {
		hold := t.Holds[i]
		if next := i + 1; next < len(t.Holds) && t.Holds[next].T < from {
			continue // an older renewal tells nothing
		}
		links = append(links, fmt.Sprintf("sent %s, granted index %d by %s, fence %s", at(hold.Sent), hold.Index, at(hold.T), at(hold.Fence)))
	}
	for _, e := range append(append([]*history.Event{}, t.Gates...), t.Acks...) {
		if e.T < from {
			continue
		}
		switch e.Kind {
		case history.Gate:
			links = append(links, fmt.Sprintf("gate %d %s", e.N, at(e.T)))
		case history.Ack:
			links = append(links, fmt.Sprintf("ack of %d %s", e.Value, at(e.T)))
		}
	}
	if cut := len(links) - mostLinks; cut > 0 {
		links = append(links[:mostLinks], fmt.Sprintf("... and %d more", cut))
	}
	if t.Stop != nil {
		why := t.Stop.Msg
		if t.Stop.Kind == history.Invoke {
			why = t.Stop.F + " sent"
		}
		links = append(links, fmt.Sprintf("stop %s (%s)", at(t.Stop.T), why))
	}
	return fmt.Sprintf("%s epoch %d of %s: %s", t.Key, t.Epoch, t.Owner, strings.Join(links, " -> "))
}

// leaders tells who led between two instants, the one before included.
func leaders(h *history.History, from, to time.Duration) []string {
	var out []string
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Leader || e.T > to {
			continue
		}
		if e.T < from {
			out = out[:0]
		}
		out = append(out, fmt.Sprintf("%s in term %d from %s", e.Node, e.Term, at(e.T)))
	}
	return out
}

// around returns the lines near the proof that are about its key, or about no
// key.
func around(h *history.History, v Violation) []string {
	proof := make(map[int]bool)
	for _, line := range v.Lines {
		proof[line] = true
	}
	others := make(map[*history.Event]bool) // completions of operations on other keys
	for i := range h.Ops {
		if op := &h.Ops[i]; op.Complete != nil && op.Invoke.Key != v.Key {
			others[op.Complete] = true
		}
	}
	var about []*history.Event
	var marks []int
	for i := range h.Events {
		e := &h.Events[i]
		if other := others[e] || e.Key != "" && e.Key != v.Key; other && v.Key != "" && !proof[e.Line] {
			continue
		}
		if proof[e.Line] {
			marks = append(marks, len(about))
		}
		about = append(about, e)
	}
	var out []string
	last := -1
	for _, mark := range marks {
		low, high := max(last+1, mark-linesAround), min(len(about)-1, mark+linesAround)
		if last >= 0 && low > last+1 {
			out = append(out, "  ...")
		}
		for i := low; i <= high; i++ {
			out = append(out, line(about[i], proof[about[i].Line]))
		}
		last = max(last, high)
	}
	return out
}

func line(e *history.Event, proof bool) string {
	mark := " "
	if proof {
		mark = ">"
	}
	b, err := json.Marshal(e)
	if err != nil { // of an event that was read from JSON
		b = []byte(err.Error())
	}
	return fmt.Sprintf("%s%6d  %s", mark, e.Line, b)
}

// String writes the explanation for people.
func (x Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "VIOLATION %s/%s of key %q: %s\n", x.Checker, x.Rule, x.Key, x.Sentence)
	if x.Amount != "" {
		fmt.Fprintf(&b, "  amount:  %s\n", x.Amount)
	}
	fmt.Fprintf(&b, "  breaks:  %s\n  run:     %s\n", x.Broken, x.Run)
	for _, part := range []struct {
		title string
		lines []string
	}{{"chains", x.Chains}, {"faults", x.Faults}, {"leaders", x.Leaders}, {"clocks", x.Clocks}, {"logs", x.Logs}, {"history", x.Around}} {
		if len(part.lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "  %s:\n", part.title)
		for _, l := range part.lines {
			fmt.Fprintf(&b, "    %s\n", l)
		}
	}
	if x.Replay != "" {
		fmt.Fprintf(&b, "  replay:  %s\n", x.Replay)
	}
	return b.String()
}
