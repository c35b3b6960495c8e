package report

import (
	"fmt"
	"html"
	"os"
	"strings"
)

// Measures of the chart, in pixels.
const (
	chartWidth  = 980
	nameWidth   = 230
	systemWidth = 120
	barWidth    = 400
	barHeight   = 16
	rowHeight   = 22
	groupGap    = 14
)

// colours of the systems; another one is grey.
var colours = map[string]string{
	"tenure": "#1b6ca8", "tenure-wal": "#5aa9d6", "etcd": "#c4622d", "etcd-own-lease": "#e0a070", "redis": "#8a4fa3",
}

// WriteChart writes one page that needs nothing else: a bar for each result, as
// long as its median is against the longest of its name, with a line from the
// least to the greatest round.
func (r *Results) WriteChart(path, machine string) error {
	all := groups(r.List())
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Tenure against its peers</title>\n")
	b.WriteString("<style>body{font:14px sans-serif;margin:24px;max-width:1000px}text{font:13px sans-serif}p{line-height:1.5}</style></head><body>\n")
	fmt.Fprintf(&b, "<h1>Tenure against its peers</h1>\n<p>%s</p>\n<p>%s</p>\n", html.EscapeString(HowToRead), html.EscapeString(machine))
	height := groupGap
	for _, g := range all {
		height += groupGap + rowHeight*len(g.results)
	}
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n", chartWidth, height)
	y := groupGap
	for _, g := range all {
		y = g.draw(&b, y) + groupGap
	}
	b.WriteString("</svg>\n</body></html>\n")
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// draw draws a group at a height and returns where it ends.
func (g *group) draw(b *strings.Builder, y int) int {
	longest := 0.0
	for _, r := range g.results {
		longest = max(longest, r.Max, r.Median)
	}
	better := "less is better"
	if moreIsBetter(g.unit) {
		better = "more is better"
	}
	fmt.Fprintf(b, "<text x=\"0\" y=\"%d\" font-weight=\"bold\">%s<title>%s</title></text>\n", y+barHeight-3, html.EscapeString(g.name+" ["+g.unit+"]"), better)
	for _, r := range g.results {
		g.bar(b, r, y, longest)
		y += rowHeight
	}
	return y
}

func (g *group) bar(b *strings.Builder, r Result, y int, longest float64) {
	scale := 0.0
	if longest > 0 {
		scale = barWidth / longest
	}
	colour := colours[r.System]
	if colour == "" {
		colour = "#888888"
	}
	x := float64(nameWidth + systemWidth)
	middle := y + barHeight/2
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%s</text>\n", nameWidth, y+barHeight-3, html.EscapeString(r.System))
	fmt.Fprintf(b, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", x, y, max(r.Median*scale, 1), barHeight, colour)
	fmt.Fprintf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#222\"/>\n", x+r.Min*scale, x+r.Max*scale, middle, middle)
	label := fmt.Sprintf("%s (%s to %s)", figure(r.Median), figure(r.Min), figure(r.Max))
	if ratio := g.ratio(r); ratio != 0 {
		label += fmt.Sprintf(", x %.2f", ratio)
	}
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", x+barWidth+8, y+barHeight-3, label)
}
