package main

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/tenure/examples/ledger/fleet"
)

// asReplica in the environment makes the test binary the command: the fleets of
// the tests are processes of it.
const asReplica = "LEDGER_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asReplica) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// killTime is how long TestKill9 goes on killing; LEDGER_KILL9 says otherwise.
const killTime = 10 * time.Second

func newConfig(t *testing.T, ttl time.Duration) fleet.Config {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	peers, err := fleet.FreePeers(3)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Config{Command: []string{exe}, Env: []string{asReplica + "=1"}, Dir: t.TempDir(), Peers: peers, Tenants: 100, TTL: ttl}
}

// start starts a fleet and waits until it serves. The fleet's logs are shown if
// the test fails.
func start(t *testing.T, cfg fleet.Config) *fleet.Fleet {
	t.Helper()
	f, err := fleet.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Close()
		if t.Failed() {
			showLogs(t, f, cfg)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	if err := f.AwaitServing(ctx); err != nil {
		t.Fatal(err)
	}
	return f
}

func showLogs(t *testing.T, f *fleet.Fleet, cfg fleet.Config) {
	for _, p := range cfg.Peers {
		data, err := os.ReadFile(f.LogPath(p.ID))
		if err != nil {
			t.Logf("%s: %v", p.ID, err)
			continue
		}
		lines := strings.Split(string(data), "\n")
		t.Logf("%s, the last lines:\n%s", p.ID, strings.Join(lines[max(0, len(lines)-30):], "\n"))
	}
}

// checkLedgers stops everything and compares the ledgers with what was
// acknowledged.
func checkLedgers(t *testing.T, f *fleet.Fleet, cfg fleet.Config, l *fleet.Load) fleet.Report {
	t.Helper()
	l.Stop()
	f.Close()
	report, err := fleet.Check(t.Context(), cfg, l)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Violations {
		t.Error(v)
	}
	for _, p := range cfg.Peers {
		log, err := os.ReadFile(f.LogPath(p.ID))
		if err != nil {
			t.Error(err)
		}
		for _, bad := range []string{"panic:", "DATA RACE", "fatal error:"} {
			if bytes.Contains(log, []byte(bad)) {
				t.Errorf("%s logged %q", p.ID, bad)
			}
		}
	}
	t.Logf("%+v, longest wait %v", report, l.Longest())
	return report
}

// The goal: whichever process is killed or frozen and when, every acknowledged
// entry is there, once, in order, and no read lacks one.
func TestKill9(t *testing.T) {
	d := killTime
	if text := os.Getenv("LEDGER_KILL9"); text != "" {
		var err error
		if d, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	cfg := newConfig(t, 2*time.Second)
	f := start(t, cfg)
	l := f.Load(8)
	killing, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	n, err := f.Disturb(killing, fleet.Faults{Kill: true, Freeze: true, Log: t.Logf})
	if err != nil {
		t.Error(err)
	}
	before := l.Acknowledged()
	await(t, "entries after the last fault", func() bool { return l.Acknowledged() > before+100 })
	report := checkLedgers(t, f, cfg, l)
	if n == 0 || report.Tenures <= cfg.Tenants {
		t.Errorf("%d faults, %d tenures: no tenant was taken over", n, report.Tenures)
	}
}

// The goal: a replica that is told to end hands its tenants over, so that none
// waits for a TTL, and so does one that comes back.
func TestRollingRestart(t *testing.T) {
	const ttl, shorter = 60 * time.Second, 20 * time.Second
	cfg := newConfig(t, ttl)
	f := start(t, cfg)
	l := f.Load(8)
	for i, p := range cfg.Peers {
		if err := f.Terminate(i); err != nil {
			t.Fatal(err)
		}
		if err := f.Restart(i); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), ttl/2)
		defer cancel()
		if err := f.AwaitServing(ctx); err != nil {
			t.Fatalf("after the restart of %s: %v", p.ID, err)
		}
	}
	report := checkLedgers(t, f, cfg, l)
	if l.Longest() > shorter {
		t.Errorf("an entry waited for %v, which is on the way to a TTL", l.Longest())
	}
	if report.Acknowledged == 0 || report.Tenures < 2*cfg.Tenants {
		t.Errorf("%d entries by %d tenures: the tenants have not moved under load", report.Acknowledged, report.Tenures)
	}
}

// The goal: the documented command starts a fleet, says how to kill a replica,
// and ends with a verdict.
func TestFleetCommand(t *testing.T) {
	t.Setenv(asReplica, "1")
	cfg := newConfig(t, 0)
	first := cfg.Peers[0]
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"fleet", "--replicas", "1", "--listen", first.Node, "--http", first.HTTP, "--tenants", "5",
		"--ttl", "1s", "--kill9", "2s", "--dir", cfg.Dir}, nil, &out, &errs)
	if code != 0 {
		t.Fatalf("exit code %d: %s%s", code, &out, &errs)
	}
	for _, want := range []string{"to kill it: kill -9 ", "is killed, and comes back", "entries/s", "every acknowledged entry is there, once, in order"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &out)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	peers := "r1=127.0.0.1:1/127.0.0.1:2"
	for _, c := range []struct{ args, want string }{
		{"", "peers"},
		{"--nonsense", "nonsense"},
		{"--peers r1", "invalid peers"},
		{"--id r2 --peers " + peers, `invalid id "r2"`},
		{"--id r1 --tenants 0 --peers " + peers, "invalid tenants 0"},
		{"--id r1 --peers " + peers, "invalid ledgers"},
		{"--id r1 --ledgers x --log-level loud --peers " + peers, "invalid log-level"},
		{"--id r1 --ledgers x --dial r2 --peers " + peers, "-dial: invalid peers"},
		{"--id r1 --ledgers x --dial r2=127.0.0.1:3/127.0.0.1:4 --peers " + peers, `invalid dial "r2"`},
		{"--id r1 x", `unexpected argument "x"`},
		{"fleet --replicas 0", "invalid replicas 0"},
		{"fleet --http nowhere", "invalid http"},
		{"fleet x", `unexpected argument "x"`},
	} {
		var errs bytes.Buffer
		code := run(t.Context(), strings.Fields(c.args), nil, nil, &errs)
		if code != 2 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("ledger %s: exit code %d, %q; want 2 and %q", c.args, code, &errs, c.want)
		}
	}
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"-h"}, nil, nil, &errs); code != 0 || !strings.Contains(errs.String(), "-ledgers") {
		t.Errorf("ledger -h: exit code %d, %q; want 0 and the flags", code, &errs)
	}
}

// await polls until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
