package child_test

import (
	"io"
	"os/exec"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/child"
)

// A child stands still, goes on, and can be killed in either state.
func TestStruck(t *testing.T) {
	cmd := exec.Command("sh", "-c", "while read line; do echo $line; done")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Kill()
	await(t, c, false)
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	await(t, c, true)
	io.WriteString(in, "x\n")
	if err := c.Continue(); err != nil {
		t.Fatal(err)
	}
	await(t, c, false)
	if _, err := io.ReadFull(out, make([]byte, 2)); err != nil {
		t.Error("it does not go on:", err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	if stopped, err := c.Stopped(); stopped || err != nil || !c.Ended() || c.Err() == nil {
		t.Errorf("killed: stopped %v, %v, ended %v with %v", stopped, err, c.Ended(), c.Err())
	}
}

func await(t *testing.T, c *child.Child, want bool) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		stopped, err := c.Stopped()
		if err != nil {
			t.Fatal(err)
		}
		if stopped == want {
			return
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("stopped is %v", stopped)
		}
	}
}

func TestEndsAlone(t *testing.T) {
	c, err := child.Start(exec.Command("true"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
	if _, err := child.Start(exec.Command("/no such program")); err == nil {
		t.Error("started what does not exist")
	}
}
