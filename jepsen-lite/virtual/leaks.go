package virtual

import (
	"runtime"
	"strings"
	"testing/synctest"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// waiters returns how many places there are in the lines of leaders. When no
// replica runs any more there must be none.
func (a *arena) waiters() int {
	places := 0
	for _, s := range a.nodes {
		if n, _ := s.running(); n != nil {
			places += n.Status().Waiting
		}
	}
	return places
}

// leaks counts what is left of the run when everything has been closed.
func (a *arena) leaks(waiters int) {
	time.Sleep(time.Minute)
	synctest.Wait()
	a.goroutines()
	conns, listeners := a.net.open()
	files := 0
	for _, s := range a.nodes {
		for _, disk := range s.disks {
			files += disk.uses()
		}
	}
	timers := 0
	for _, c := range a.clocks {
		timers += c.pending()
	}
	for _, left := range []struct {
		of string
		n  int
	}{{"waiters", waiters}, {"connections", conns}, {"listeners", listeners}, {"files", files}, {"timers", timers}} {
		a.record(history.Event{Kind: history.Leak, F: left.of, N: left.n})
	}
}

// goroutines counts those of the run's bubble.
func (a *arena) goroutines() {
	buf := make([]byte, 1<<22)
	stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	bubble := bubbleOf(stacks[0])
	n, example := 0, ""
	for _, stack := range stacks[1:] {
		root := strings.Contains(stack, "testingSynctestTest(") || strings.Contains(stack, "internal/synctest.Run(")
		if bubbleOf(stack) == bubble && !root {
			n, example = n+1, stack
		}
	}
	a.record(history.Event{Kind: history.Leak, F: "goroutines", N: n, Msg: example})
}

// bubbleOf returns the bubble that a goroutine's stack names in its first
// line.
func bubbleOf(stack string) string {
	head, _, _ := strings.Cut(stack, "\n")
	_, bubble, _ := strings.Cut(head, "synctest bubble ")
	bubble, _, _ = strings.Cut(bubble, "]")
	bubble, _, _ = strings.Cut(bubble, ",")
	return bubble
}
