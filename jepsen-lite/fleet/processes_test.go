//go:build unix

package fleet_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/fleet"
)

// A process writes to the replica's log, over all of its incarnations, and one
// that ended by itself is told.
func TestProcesses(t *testing.T) {
	r := fleet.Replica{Name: "r1", Log: filepath.Join(t.TempDir(), "r1.log")}
	script := "echo started; exec sleep 1000"
	p := &fleet.Processes{Command: func(fleet.Replica) *exec.Cmd { return exec.Command("sh", "-c", script) }}
	if err := p.Pause(t.Context(), r); err == nil {
		t.Error("paused what was not started")
	}
	for run := 1; run <= 2; run++ {
		if err := p.Start(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := p.Start(t.Context(), r); err == nil {
			t.Error("started twice")
		}
		for begun := time.Now(); ; time.Sleep(time.Millisecond) {
			if text, _ := os.ReadFile(r.Log); strings.Count(string(text), "started") == run {
				break
			} else if time.Since(begun) > 10*time.Second {
				t.Fatalf("the log has %q after %d starts", text, run)
			}
		}
		if err := p.Pause(t.Context(), r); err != nil {
			t.Error(err)
		}
		if run == 1 {
			if err := p.Resume(t.Context(), r); err != nil {
				t.Error(err)
			}
		}
		if err := p.Kill(t.Context(), r); err != nil {
			t.Error(err)
		}
	}
	script = "exit 3"
	if err := p.Start(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		err := p.Resume(t.Context(), r)
		if err != nil && strings.Contains(err.Error(), "ended by itself: exit status 3") {
			break
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("its end is not told: %v", err)
		}
	}
	if err := p.Kill(t.Context(), r); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("its end is not told: %v", err)
	}
}
