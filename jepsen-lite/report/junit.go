package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"example.com/tenure/jepsen-lite/check"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     float64     `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Time    float64      `xml:"time,attr"`
	Failure *junitReason `xml:"failure"`
	Error   *junitReason `xml:"error"`
	Skipped *junitReason `xml:"skipped"`
}

type junitReason struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report for CI: a case for each checker, one for each fault
// that is off, and one for the coverage. Unknown is an error, so that it does
// not pass silently.
func (r *Report) JUnit(w io.Writer) error {
	t := r.history.Terms
	s := junitSuite{Name: fmt.Sprintf("jepsen-lite %s seed %d", t.Arena, t.Seed), Time: r.history.Last().Seconds()}
	class := "jepsen-lite." + t.Arena
	for _, f := range r.Judgement.Findings {
		c := junitCase{Name: f.Checker, Class: class, Time: f.Took.Seconds()}
		switch f.Verdict {
		case check.Violated:
			c.Failure = &junitReason{Message: f.Violations[0].Sentence, Text: r.text(f.Checker)}
		case check.Unknown:
			c.Error = &junitReason{Message: "unknown: " + f.Reason}
		case check.Skipped:
			c.Skipped = &junitReason{Message: f.Reason}
		}
		s.add(c)
	}
	for _, kind := range slices.Sorted(maps.Keys(t.Off)) {
		s.add(junitCase{Name: "fault " + kind, Class: class, Skipped: &junitReason{Message: t.Off[kind]}})
	}
	c := junitCase{Name: "coverage", Class: class}
	if r.Judgement.Verdict == check.Unknown {
		c.Error = &junitReason{Message: "unknown: " + strings.Join(r.Judgement.Reasons, "; ")}
	}
	s.add(c)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// text explains all violations of a checker.
func (r *Report) text(checker string) string {
	var b strings.Builder
	for _, x := range r.Explanations {
		if x.Checker == checker {
			b.WriteString(x.String())
			b.WriteByte('\n')
		}
	}
	return b.String()
}
