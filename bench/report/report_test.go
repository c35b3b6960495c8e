package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		sorted []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{1, 2}, 1.5}, {[]float64{1, 2, 9}, 2}} {
		if got := Median(c.sorted); got != c.want {
			t.Errorf("the median of %v is %v, want %v", c.sorted, got, c.want)
		}
	}
}

func sample() *Results {
	r := New()
	for _, v := range []float64{30, 10, 20} {
		r.Add("cycle/64", "tenure", "1/s", v)
	}
	r.Add("cycle/64", "etcd", "1/s", 10)
	r.Add("memory/lease", "tenure", "bytes", 150)
	return r
}

// The file has the shape that other programs read.
func TestJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	if err := sample().WriteJSON(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Results []map[string]any `json:"results"`
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	first := got.Results[0]
	if first["name"] != "cycle/64" || first["system"] != "tenure" || first["unit"] != "1/s" ||
		first["median"] != 20.0 || first["min"] != 10.0 || first["max"] != 30.0 {
		t.Errorf("the first result is %v", first)
	}
}

// A later run keeps what it didn't measure itself.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	later := New()
	if err := later.Keep(path); err != nil {
		t.Errorf("a first run: %v", err)
	}
	if err := sample().WriteJSON(path); err != nil {
		t.Fatal(err)
	}
	if err := later.Keep(path); err != nil {
		t.Fatal(err)
	}
	later.Add("cycle/64", "tenure", "1/s", 99)
	want := map[string]float64{"cycle/64 tenure": 99, "cycle/64 etcd": 10, "memory/lease tenure": 150}
	list := later.List()
	for _, r := range list {
		if want[r.Name+" "+r.System] != r.Median {
			t.Errorf("kept %+v", r)
		}
	}
	if len(list) != len(want) {
		t.Errorf("%d results, want %d", len(list), len(want))
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := later.Keep(path); err == nil {
		t.Error("a file that is no results was taken over")
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "x 2.00") || !strings.Contains(b.String(), "How to read it") {
		t.Errorf("the table lacks the ratio or how to read it:\n%s", b.String())
	}
}

// The chart is one page that fetches nothing.
func TestChart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chart.html")
	if err := sample().WriteChart(path, "a <machine>"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, no := range []string{"src=", "href=", "@import", "url(", "<machine>"} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q", no)
		}
	}
	if strings.Count(page, "<rect") != 3 {
		t.Errorf("the page has %d bars, want 3", strings.Count(page, "<rect"))
	}
}
