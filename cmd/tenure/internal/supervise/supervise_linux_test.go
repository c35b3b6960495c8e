package supervise

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// familyScript starts a child, a grandchild, one of each in a session of
// its own, and a job-control shell's job in a group of its own. All ignore
// SIGTERM.
const familyScript = `
trap '' TERM
sleep 1000 &
sh -c 'sleep 1000 & wait' &
setsid sh -c 'sleep 1000 & wait' &
sh -c 'set -m; sleep 1000 & wait' 2>/dev/null &
echo up
wait
`

// Whatever ends the watch, nothing that the command started outlives it.
func TestNothingIsLeft(t *testing.T) {
	const soon = 300 * time.Millisecond
	for name, end := range map[string]struct {
		kill time.Duration
		do   func(f *front)
	}{
		"front killed":                 {far, func(f *front) { f.signal(unix.SIGKILL) }},
		"front's process group killed": {far, func(f *front) { _ = unix.Kill(-f.cmd.Process.Pid, unix.SIGKILL) }},
		"supervisor killed": {far, func(f *front) {
			_ = unix.Kill(f.supervisor(), unix.SIGKILL)
			f.report(killed)
		}},
		"front stopped": {soon, func(f *front) { f.signal(unix.SIGSTOP) }},
		"supervisor stopped": {far, func(f *front) {
			pid := f.supervisor()
			_ = unix.Kill(pid, unix.SIGSTOP)
			f.stopped(pid)
			f.wish(wish{Now: true})
		}},
		"front asks": {far, func(f *front) {
			f.wish(wish{Now: true})
		}},
		"its time is up": {soon, func(f *front) {
			f.report(Fenced)
			if r := f.report(Exited); r.Code != 137 {
				f.Errorf("exit code %d, want 137", r.Code)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFront(t, wish{Warn: far, Kill: far}, familyScript)
			f.report(Started)
			f.line("up")
			if end.kill != far {
				f.wish(wish{Warn: far, Kill: end.kill})
			}
			end.do(f)
			f.allGone()
		})
	}
}

// If both are killed before either could notice the other's death, the command
// itself dies nevertheless.
func TestBothKilled(t *testing.T) {
	f := startFront(t, wish{Warn: far, Kill: far}, "echo up; exec sleep 1000")
	f.report(Started)
	f.line("up")
	supervisor := f.supervisor()
	f.signal(unix.SIGSTOP)
	f.stopped(f.cmd.Process.Pid)
	if err := unix.Kill(supervisor, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.signal(unix.SIGKILL)
	f.allGone()
}

// One look finds the whole family, and one signal reaches it.
func TestDescendants(t *testing.T) {
	f := startFront(t, wish{Warn: far, Kill: far}, familyScript)
	command := f.report(Started).Pid
	f.line("up")
	found := map[int]bool{}
	for range 400 { // the shells fork in their own time
		for _, d := range descendants(f.cmd.Process.Pid) {
			found[d.pid] = true
		}
		if len(found) >= 9 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if len(found) != 9 || !found[command] || !found[f.supervisor()] {
		t.Errorf("found %d descendants, want the supervisor, the command %d and 7 more", len(found), command)
	}
	stranger := descendant{pid: f.supervisor(), parent: command}
	stranger.signal(unix.SIGKILL) // not that parent's child: nothing happens
	if parentOf(stranger.pid) != f.cmd.Process.Pid {
		t.Error("a process was killed that is not the one that was seen")
	}
}

// A front that was stopped until after the kill finds everything gone when it
// continues.
func TestFrontContinuesAfterTheKill(t *testing.T) {
	f := startFront(t, wish{Warn: far, Kill: far}, "echo up; sleep 1000")
	f.report(Started)
	f.line("up")
	f.wish(wish{Warn: far, Kill: 500 * time.Millisecond})
	f.signal(unix.SIGSTOP)
	f.allGone()
	f.signal(unix.SIGCONT)
	f.report(Fenced)
	f.report(Exited)
}

// The limits move: neither the warning nor the kill of the start comes.
func TestExtend(t *testing.T) {
	start := Now()
	f := startFront(t, wish{Warn: 2 * time.Second, Kill: 3 * time.Second}, "trap 'exit 0' TERM; while :; do sleep 0.01; done")
	f.report(Started)
	f.wish(wish{Warn: 4 * time.Second, Kill: far})
	f.report(Warned)
	if passed := time.Duration(Now() - start); passed < 4*time.Second {
		t.Errorf("warned after %v, want at least 4s", passed)
	}
	f.report(Exited)
}

func TestExitCode(t *testing.T) {
	for script, code := range map[string]int{
		"exit 0":             0,
		"exit 7":             7,
		"kill -KILL $$":      137,
		"kill -TERM $$":      143,
		"sleep 0.01; exit 3": 3,
	} {
		t.Run(script, func(t *testing.T) {
			f := startFront(t, wish{Warn: far, Kill: far}, script)
			f.report(Started)
			if r := f.report(Exited); r.Code != code {
				t.Errorf("exit code %d, want %d", r.Code, code)
			}
			f.allGone()
		})
	}
}

func TestWarning(t *testing.T) {
	f := startFront(t, wish{Warn: far, Kill: far}, "trap 'echo asked; exit 5' TERM; echo up; while :; do sleep 0.01; done")
	f.report(Started)
	f.line("up")
	f.wish(wish{Warn: 0, Kill: far})
	f.report(Warned)
	f.line("asked")
	if r := f.report(Exited); r.Code != 5 {
		t.Errorf("exit code %d, want 5", r.Code)
	}
}

// A stopped command is continued to see the warning.
func TestWarningOfAStoppedCommand(t *testing.T) {
	f := startFront(t, wish{Warn: far, Kill: far}, "trap 'exit 5' TERM; kill -STOP $$; while :; do sleep 0.01; done")
	f.stopped(f.report(Started).Pid)
	f.wish(wish{Warn: 0, Kill: far})
	f.report(Warned)
	if r := f.report(Exited); r.Code != 5 {
		t.Errorf("exit code %d, want 5", r.Code)
	}
}

func TestSignalReachesTheGroup(t *testing.T) {
	f := startFront(t, wish{Warn: far, Kill: far},
		`trap 'wait; echo parent; exit 9' USR1; (trap 'echo child; exit' USR1; echo up; while :; do sleep 0.01; done) & while :; do sleep 0.01; done`)
	f.report(Started)
	f.line("up")
	f.wish(wish{Signal: unix.SIGUSR1})
	f.line("child")
	f.line("parent")
	if r := f.report(Exited); r.Code != 9 {
		t.Errorf("exit code %d, want 9", r.Code)
	}
}

// A front that is stopped and takes in no report does not hold up the
// supervisor.
func TestReportsDoNotBlock(t *testing.T) {
	unread := &reports{waiting: make(chan Report, waitingReports)}
	for range 1000 {
		unread.add(Report{Kind: Stopped})
	}
	for _, kind := range []Kind{Started, Failed, Warned, Fenced, Left, Exited} {
		unread.add(Report{Kind: kind})
	}
	close(unread.waiting)
	var got []Kind
	for report := range unread.waiting {
		got = append(got, report.Kind)
	}
	want := append(slices.Repeat([]Kind{Stopped}, waitingStops), Started, Failed, Warned, Fenced, Left, Exited)
	if !slices.Equal(got, want) {
		t.Errorf("waiting: %v, want %v", got, want)
	}
}

// The dead are collected in portions, so that they don't keep their watcher
// from the clock, and all of them in the end.
func TestReapInPortions(t *testing.T) {
	f := startFront(t, wish{Warn: far, Kill: far, Grace: far}, fmt.Sprintf(
		"sleep 0.2; i=0; while test $i -lt %d; do (: &); i=$((i+1)); done; echo up; exit 8", 3*reapedAtOnce))
	f.report(Started)
	supervisor := f.supervisor()
	_ = unix.Kill(supervisor, unix.SIGSTOP)
	f.line("up") // and all are orphans
	_ = unix.Kill(supervisor, unix.SIGCONT)
	for {
		var r Report
		if err := f.reports.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Kind == Exited {
			if r.Code != 8 {
				t.Errorf("exit code %d, want 8", r.Code)
			}
			return
		}
	}
}

// What the command leaves behind is asked to end, then killed; the exit code is
// the command's.
func TestLeftBehind(t *testing.T) {
	for name, left := range map[string]struct {
		trap  string
		grace time.Duration
		says  string
	}{
		"goes":  {"echo asked; exit", far, "asked"},
		"stays": {"", 10 * time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFront(t, wish{Warn: far, Kill: far, Grace: left.grace}, fmt.Sprintf(
				`mkfifo %[2]s/up; setsid sh -c "trap '%[1]s' TERM; : >%[2]s/up; while :; do sleep 0.01; done" & : <%[2]s/up; exit 6`,
				left.trap, t.TempDir()))
			f.report(Started)
			f.report(Left)
			if left.says != "" {
				f.line(left.says)
			}
			if r := f.report(Exited); r.Code != 6 {
				t.Errorf("exit code %d, want 6", r.Code)
			}
			f.allGone()
		})
	}
}

func TestTerminalStopIsReported(t *testing.T) {
	f := startFront(t, wish{Warn: far, Kill: far}, "kill -STOP $$; echo continued; kill -TSTP $$; echo continued")
	command := f.report(Started).Pid
	f.stopped(command)
	f.wish(wish{Signal: unix.SIGCONT}) // nothing was reported before: SIGSTOP is not the terminal's
	f.line("continued")
	f.report(Stopped)
	f.wish(wish{Signal: unix.SIGCONT})
	f.line("continued")
	f.report(Exited)
}

func TestFailedStart(t *testing.T) {
	f := startFrontOf(t, wish{Warn: far, Kill: far}, "/nonexistent/command")
	if r := f.report(Failed); r.Message == "" {
		t.Error("no message")
	}
	f.allGone()
}

// Nothing is started that would have to be killed at once, until the limits
// move.
func TestTooLateToStart(t *testing.T) {
	for name, then := range map[string]func(*front){
		"killed": func(f *front) { f.wish(wish{Now: true}) },
		"extended": func(f *front) {
			f.wish(wish{Warn: far, Kill: far})
			f.report(Started)
			f.line("up")
			f.report(Exited)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := startFront(t, wish{Warn: -1, Kill: -1}, "echo up")
			then(f)
			f.allGone()
		})
	}
}

func TestSuperviseRefusesOtherCallers(t *testing.T) {
	for _, args := range [][]string{nil, {"3"}, {"x", "1s", background, "/bin/true", "true"}, {"3", "x", background, "/bin/true", "true"},
		{"-1", "1s", background, "/bin/true", "true"}} {
		if err := Supervise(args); err == nil {
			t.Errorf("Supervise(%q) = nil, want an error", args)
		}
	}
}
