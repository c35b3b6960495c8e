package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
)

// What is counted of a fleet's answers.
func TestCoverageOfAFleet(t *testing.T) {
	table := check.Cover(load(t, "../testdata/good/fleet-frozen-owner.jsonl"))
	for name, want := range map[string]int{
		check.Successions: 1, check.ListedKeys: 1, check.AcknowledgedData: 4,
	} {
		i := slices.IndexFunc(table, func(c check.Covered) bool { return c.Name == name })
		if i < 0 || table[i].Seen != want {
			t.Errorf("%s: %+v, want %d", name, table, want)
		}
	}
}

// An answer that tells no owner belongs to the one that others tell.
func TestReigns(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"t":0,"kind":"run","terms":{"seed":1,"arena":"x","timed":true}}` + "\n")
	for i, answer := range []string{`"epoch":1`, `"epoch":1,"owner":"a"`, `"epoch":2,"owner":"b"`, `"epoch":1`, `"epoch":2,"owner":"c"`, `"epoch":3`} {
		fmt.Fprintf(&text, `{"t":%d,"kind":"invoke","f":"list","id":%d,"node":"r1","key":"k"}`+"\n"+`{"t":%d,"kind":"ok","id":%d,%s}`+"\n", 10*i, i+1, 10*i+1, i+1, answer)
	}
	h, err := history.Parse(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range check.ReignsOf(h)["k"] {
		got = append(got, fmt.Sprintf("%s %d x%d %d-%d", r.Owner, r.Epoch, r.Answers, r.From, r.To))
	}
	if want := []string{"a 1 x3 0-31", "b 2 x1 20-21", "c 2 x1 40-41", " 3 x1 50-51"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a fleet does wrong for ever is told once.
func TestToldOnce(t *testing.T) {
	const begin = `{"t":0,"kind":"run","terms":{"seed":1,"arena":"x","timed":true}}
{"t":1,"kind":"invoke","f":"put","id":1,"node":"r1","key":"k","value":1}
{"t":2,"kind":"ok","id":1,"epoch":2,"owner":"r1"}
`
	for name, lines := range map[string]string{
		"lost":    `"values":""`,
		"twice":   `"values":"1","twice":"1"`,
		"phantom": `"values":"1,7"`,
		"fallen":  `"values":"1","epoch":1`,
		"shared":  `"values":"1","epoch":2,"owner":"r2"`,
	} {
		var text strings.Builder
		text.WriteString(begin)
		for i := 2; i < 6; i++ {
			fmt.Fprintf(&text, `{"t":%d,"kind":"invoke","f":"list","id":%d,"node":"r2","key":"k"}`+"\n"+`{"t":%d,"kind":"ok","id":%d,%s}`+"\n", 10*i, i, 10*i+1, i, lines)
		}
		h, err := history.Parse(strings.NewReader(text.String()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		j := check.Judge(h)
		if n := len(j.Violations()); n != 1 {
			t.Errorf("%s: %d violations: %q", name, n, j.Reasons)
		}
	}
}
