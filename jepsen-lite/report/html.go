package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"px":   func(x float64) string { return fmt.Sprintf("%.1f", x) },
	"add":  func(a, b int) int { return a + b },
	"join": func(lines []string) string { return strings.Join(lines, "\n") },
}).Parse(pageText))

// HTML writes the report for people: one page that needs nothing else.
func (r *Report) HTML(w io.Writer) error {
	tl := r.timeline()
	return page.Execute(w, struct {
		*Report
		Terms      *history.Terms
		Timeline   *timeline
		Chart      *chart
		Operations int
		Faults     int
		Seconds    float64
		Checkers   map[string]check.Checker
	}{r, r.history.Terms, tl, r.chart(tl), len(r.history.Ops), len(r.history.Faults), tl.end.Seconds(), byName()})
}

func byName() map[string]check.Checker {
	m := make(map[string]check.Checker)
	for _, c := range check.All {
		m[c.Name] = c
	}
	return m
}
