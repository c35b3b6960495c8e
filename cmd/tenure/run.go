package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	osexec "os/exec"
	"strings"
	"time"

	"example.com/tenure"
)

var runVerb = verb{
	name:    "run",
	summary: "hold the lease of a key while a command runs",
	help: `
The command is started once the key is acquired, is stopped before anyone else
can own the key, and the key is released when the command has ended. It has
TENURE_KEY, TENURE_EPOCH and TENURE_OWNER in its environment; what it writes
should carry the epoch.

If another tenure has the key the exit code is 3; with --wait the call stands in
line first. The exit code is then the command's own, 128+n if signal n ended it,
126 or 127 if it could not be started or found, and 4 if it was stopped since
the lease was lost or not renewed.

The lease is renewed in the background. Its fence, TTL minus margin after the
newest renewal was SENT, is when the command must not run any more:

  - 250 ms before the fence (less if that is more than a tenth of the TTL
    without the margin) the command's process group and all that it started
    gets SIGKILL, so that they are dead at the fence on a busy machine, too. At
    once, if the store says that the tenure is over. The same happens if 'tenure
    run' is killed, or stopped and not continued before. A second process,
    'tenure supervise', sees to it.
  - A margin before that (less if the margin is a large part of the TTL) they get
    SIGTERM, to end in order.

The command has a process group of its own. SIGINT, SIGTERM, SIGHUP, SIGQUIT,
SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on to it. If standard input
and output are the terminal, the group becomes the terminal's foreground group,
so that Ctrl-C and Ctrl-Z go to the command. Ctrl-Z stops 'tenure run' with it,
and a job that is not continued in time is killed. What the command
leaves running when it ends gets SIGTERM, then SIGKILL, before the key is
released: a daemon is not a command to run this way.

What it can't do: a process that hangs in the kernel dies only when the kernel
lets go of it, and the key is then not released but left to expire; a machine
that is frozen as a whole, or on which nothing is run for longer than the margin
and those 250 ms, may run the command for an instant when it thaws. Let the store
that the command writes to check the epoch. It works on Linux only.

  tenure run tenant-1 --ttl 30s --wait 10m -- ./server --port 8080
`,
	prepare: prepareRun,
}

// A run is one call of 'tenure run' as it was asked for.
type run struct {
	*call
	where  *place
	key    string
	ttl    time.Duration
	margin time.Duration
	wait   time.Duration
	forget bool
	path   string // of the command
	argv   []string
}

func prepareRun(c *call) action {
	key, ttl := c.key(), c.ttl()
	margin := c.duration("margin", "how long before the store would admit anyone else the command is stopped (default a tenth of the TTL)", -1,
		func(time.Duration) error { return nil })
	wait := c.wait()
	forget := c.toggle("forget", "at the end forget the copies of this and all earlier epochs, too")
	var argv []string
	c.tail, c.tailName = &argv, "CMD [argument...]"
	where := c.place()
	c.afterwards(func() error {
		if !c.given("margin") {
			*margin = *ttl / 10
		}
		if len(argv) == 0 {
			return c.usage("the command is missing: write it after '--'")
		}
		return c.refuse("--margin", tenure.ValidateMargin(*margin, *ttl))
	})
	return func(ctx context.Context) error {
		path, err := osexec.LookPath(argv[0])
		if err != nil {
			return notFound(err)
		}
		r := run{call: c, where: where, key: key.value, ttl: *ttl, margin: *margin, wait: *wait, forget: *forget, path: path, argv: argv}
		return r.do(ctx)
	}
}

// Exit codes for a command that never ran, as shells have them.
const (
	exitNotStarted = 126
	exitNotFound   = 127
	exitSignal     = 128 // plus the signal's number
)

// notFound returns the error of a command that is not there, or is not a
// program.
func notFound(err error) error {
	code := exitNotFound
	if errors.Is(err, fs.ErrPermission) {
		code = exitNotStarted
	}
	return &commandError{code: code, err: err}
}

// mostDying bounds what dying returns.
const mostDying = 250 * time.Millisecond

// dying returns how long before the fence the command is killed: time in which
// its supervisor wakes up, finds all processes, and the kernel ends them, on a
// machine that has much else to do. The margin, which is for clocks, comes on
// top.
func (r *run) dying() time.Duration { return min(mostDying, (r.ttl-r.margin)/10) }

// grace returns how long before the kill the command is asked to end: the
// margin. But grace and dying are at most a third of what a grant leaves to use,
// since a renewal is not due before three eighths of it have passed.
func (r *run) grace() time.Duration { return min(r.margin, (r.ttl-r.margin)/3-r.dying()) }

// environment returns what the command finds in its environment.
func (r *run) environment(owner string, epoch uint64) []string {
	env := make([]string, 0, len(r.env)+3)
	own := map[string]string{"TENURE_KEY": r.key, "TENURE_OWNER": owner, "TENURE_EPOCH": fmt.Sprint(epoch)}
	for _, entry := range r.env {
		name, _, _ := strings.Cut(entry, "=")
		if _, replaced := own[name]; !replaced {
			env = append(env, entry)
		}
	}
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	return env
}
