package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/check"
	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/report"
)

func load(t *testing.T, name string) *report.Report {
	t.Helper()
	h, err := history.ReadFile(filepath.Join("..", "testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return report.New(h, check.Judge(h))
}

// A program finds verdict, violations and their proof in the JSON.
func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := load(t, "bad/overlap-second-owner").JSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Verdict    string
		Violations []struct {
			Checker, Rule, Claim, Key, Sentence, Amount string
			Lines                                       []int
			Chains                                      []string
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Verdict != "violation" || len(got.Violations) != 1 {
		t.Fatalf("got %+v", got)
	}
	v := got.Violations[0]
	if v.Checker != "overlap" || v.Rule != "S1" || v.Claim != "A" || v.Key != "k1" || len(v.Lines) != 2 || len(v.Chains) != 2 ||
		!strings.Contains(v.Amount, "305ms") || !strings.Contains(v.Sentence, "held by two owners from 0.600000s to 0.905000s") {
		t.Errorf("got %+v", v)
	}
}

// CI sees a violation as a failure, and unknown as an error: neither passes.
func TestJUnit(t *testing.T) {
	for _, c := range []struct {
		name                      string
		failures, errors, skipped int
	}{
		{"bad/data-phantom", 1, 0, 13},
		{"good/takeover", 0, 0, 7},
	} {
		var b bytes.Buffer
		if err := load(t, c.name).JUnit(&b); err != nil {
			t.Fatal(err)
		}
		var suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure string `xml:"failure"`
			} `xml:"testcase"`
		}
		if err := xml.Unmarshal(b.Bytes(), &suite); err != nil {
			t.Fatal(err)
		}
		if suite.Tests != len(check.All)+1 || len(suite.Cases) != suite.Tests || suite.Failures != c.failures || suite.Errors != c.errors || suite.Skipped != c.skipped {
			t.Errorf("%s: %d tests, %d failures, %d errors, %d skipped", c.name, suite.Tests, suite.Failures, suite.Errors, suite.Skipped)
		}
		for _, test := range suite.Cases {
			if test.Name == "data" && c.failures > 0 && !strings.Contains(test.Failure, "VIOLATION data/W3") {
				t.Errorf("the failure does not explain: %q", test.Failure)
			}
		}
	}
	h, err := history.Parse(strings.NewReader(`{"t":0,"kind":"run","terms":{"seed":1,"arena":"x","timed":true}}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.New(h, check.Judge(h)).JUnit(&b); err != nil || !strings.Contains(b.String(), `errors="1"`) {
		t.Errorf("a run that was cut off: %v\n%s", err, b.String())
	}
}

// The page needs nothing else, marks the violation and explains it, and says
// what was unknown.
func TestHTML(t *testing.T) {
	var b bytes.Buffer
	if err := load(t, "bad/overlap-second-owner").HTML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"violation</span>", "held by two owners from", `id="v1"`, `href="#v1"`, "overlap of 305ms", ">k1</text>", `data-show="v1"`, `data-mark="v1"`, `id="reset"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, foreign := range []string{"http:", "https:", "src=", "@import", "url("} {
		if strings.Contains(text, foreign) {
			t.Errorf("the page refers to something else: %q", foreign)
		}
	}
}

// What a history says is text, never markup.
func TestHTMLEscapes(t *testing.T) {
	h, err := history.Parse(strings.NewReader(`{"t":0,"kind":"run","terms":{"seed":1,"arena":"<script>x","timed":true}}
{"t":5,"kind":"hold","key":"<b>k","owner":"\"><script>alert(1)</script>","epoch":1,"sent":1,"fence":9000000000}
{"t":6,"kind":"fault","f":"<i>","id":1,"targets":["</title><script>"]}
`))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.New(h, check.Judge(h)).HTML(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<script>x") || strings.Contains(b.String(), "<script>alert") || strings.Contains(b.String(), "<b>k") || strings.Contains(b.String(), "<i>") {
		t.Error("markup of a history is markup of the page")
	}
}

// A large run is cut, and the page says what is missing.
func TestHTMLOfManyKeys(t *testing.T) {
	var h bytes.Buffer
	h.WriteString(`{"t":0,"kind":"run","terms":{"seed":1,"arena":"virtual","timed":true,"ttl":1000000000}}` + "\n")
	for i := range 16000 {
		at := time.Duration(i) * 20 * time.Millisecond
		fmt.Fprintf(&h, `{"t":%d,"kind":"hold","key":"k%d","owner":"r%d/x","epoch":%d,"sent":%d,"fence":%d}`+"\n",
			at, i%80, i%7, i/80+1, max(1, at-1), at+time.Second)
	}
	for i := range 1000 {
		fmt.Fprintf(&h, `{"t":%d,"kind":"fault","f":"kill","id":%d,"targets":["n1"]}`+"\n"+`{"t":%d,"kind":"heal","id":%d}`+"\n", i*200000000, i+1, i*200000000+1000000*(i%2000), i+1)
	}
	parsed, err := history.Parse(&h)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.New(parsed, check.Judge(parsed)).HTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"16 of 80 keys are not drawn", "tenures are not drawn", "faults are not named"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if b.Len() > 8<<20 {
		t.Errorf("the page has %d bytes", b.Len())
	}
	if path := os.Getenv("JEPSEN_LITE_PAGE"); path != "" {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := load(t, "bad/gates-past-fence").Text(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.HasPrefix(text, "VIOLATION gates/S3") || !strings.HasSuffix(text, "verdict: violation\n") {
		t.Errorf("got %s", text)
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	if err := load(t, "good/takeover").WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{report.JSONFile, report.JUnitFile, report.HTMLFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := load(t, "good/takeover").WriteFiles(filepath.Join(dir, "missing")); err == nil {
		t.Error("no error where no file can be written")
	}
}
