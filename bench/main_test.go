package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/tenure/bench/cluster"
	"example.com/tenure/bench/report"
)

// TestMain makes the test binary a server when a cluster starts it as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == cluster.ServeVerb {
		exitOn(cluster.Serve(os.Args[2]))
		return
	}
	os.Exit(m.Run())
}

// A tiny run of the cycles and the hand-over starts all servers, measures each
// system under the names that are promised, and writes what it measured.
func TestTinyRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts nine server processes")
	}
	o := options{tiny: true, out: t.TempDir(), only: "cycle,handover"}
	if err := o.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(o.path("results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Results []report.Result }
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"cycle/1 tenure 1/s", "cycle/1 tenure-wal 1/s", "cycle/1 etcd 1/s", "cycle/1 etcd-own-lease 1/s",
		"cycle/4/p99 tenure ms", "handover tenure ms", "handover etcd ms", "handover/commits tenure commits",
	} {
		if !slices.ContainsFunc(got.Results, func(r report.Result) bool { return r.Name+" "+r.System+" "+r.Unit == want }) {
			t.Errorf("no result %s among %+v", want, got.Results)
		}
	}
	if page, err := os.ReadFile(o.path("chart.html")); err != nil || !strings.Contains(string(page), "</svg>") {
		t.Errorf("the chart: %v", err)
	}
}

// A name that is no workload is refused with those that are.
func TestChoose(t *testing.T) {
	if _, err := choose("cycle,nothing", false); err == nil || !strings.Contains(err.Error(), "renew-1m") {
		t.Errorf("choosing what is not there gives %v", err)
	}
	quick, err := choose("", true)
	if err != nil || len(quick) != 2 {
		t.Errorf("a quick run has %d workloads, want 2: %v", len(quick), err)
	}
	all, err := choose("", false)
	if err != nil || len(all) <= len(quick) {
		t.Errorf("a full run has %d workloads: %v", len(all), err)
	}
}
