package process_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/history"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/jepsen-lite/process"
)

// victimEnv is a folder in which a process is to carry out a run that is going
// to be killed.
const victimEnv = "JEPSEN_LITE_TEST_VICTIM"

func victim(dir string) int {
	p := shortPlan()
	p.Safety = seconds(600)
	p.Faults = []plan.Fault{{Kind: plan.Pause, At: seconds(1), For: seconds(500), Targets: []string{"n2"}}}
	w, err := history.Create(filepath.Join(dir, "history.jsonl"))
	if err == nil {
		err = process.Do(context.Background(), process.Run{Plan: p, History: w, Terms: p.Terms(), DataDir: dir, LogDir: dir})
	}
	fmt.Println(err)
	return 1
}

// A run whose arena is killed leaves no process behind, not even one that
// stands still.
func TestArenaIsKilled(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	begun := time.Now()
	for !bytes.Contains(read(t, filepath.Join(dir, "history.jsonl")), []byte(`"f":"pause"`)) {
		if time.Since(begun) > time.Minute {
			t.Fatal("the fault does not come")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := len(marked(t, dir)); n != 1+3+2 {
		t.Errorf("%d processes run, want the arena, its nodes and its replicas", n)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for begun := time.Now(); len(marked(t, dir)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("these processes are left: %q", marked(t, dir))
		}
	}
}

// read returns what is in a file, which may have to be made yet.
func read(t *testing.T, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	return b
}

// marked returns the processes that know of the folder.
func marked(t *testing.T, dir string) []string {
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, []byte(victimEnv+"="+dir)) {
			found = append(found, path)
		}
	}
	return found
}
