package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"example.com/tenure/examples/ledger/replica"
)

// A Fleet is replicas that run as processes. Its methods can be called
// concurrently.
type Fleet struct {
	cfg    Config
	client client

	mu        sync.Mutex
	processes []*process // by index in cfg.Peers; the last incarnation of each
}

const (
	pollEvery  = 50 * time.Millisecond // for what is waited for
	statusTime = 2 * time.Second       // for one answer
)

// Start starts all replicas. It does not wait until they serve.
func Start(cfg Config) (*Fleet, error) {
	f := &Fleet{cfg: cfg, client: newClient(), processes: make([]*process, len(cfg.Peers))}
	for _, dir := range []string{f.logDir(), f.ledgerDir()} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
	for i := range cfg.Peers {
		if err := f.Restart(i); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

func (f *Fleet) logDir() string    { return filepath.Join(f.cfg.Dir, "logs") }
func (f *Fleet) ledgerDir() string { return filepath.Join(f.cfg.Dir, "ledgers") }

// LogPath returns where the replica with that id logs, all of its incarnations.
func (f *Fleet) LogPath(id string) string { return filepath.Join(f.logDir(), id+".log") }

// Restart starts replica i, which must not be running.
func (f *Fleet) Restart(i int) error {
	p := f.cfg.Peers[i]
	command := append(append([]string{}, f.cfg.Command...),
		"--id", p.ID, "--peers", replica.FormatPeers(f.cfg.Peers), "--data", filepath.Join(f.cfg.Dir, p.ID), "--ledgers", f.ledgerDir(),
		"--tenants", fmt.Sprint(f.cfg.Tenants), "--ttl", f.cfg.TTL.String(), "--while-stdin")
	started, err := spawn(command, f.cfg.Env, f.LogPath(p.ID))
	if err != nil {
		return fmt.Errorf("start %s: %w", p.ID, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.processes[i] = started
	return nil
}

func (f *Fleet) process(i int) *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.processes[i]
}

// Pid returns the process id of replica i.
func (f *Fleet) Pid(i int) int { return f.process(i).pid() }

// Gone returns a channel that is closed when replica i, as it runs now, has
// ended.
func (f *Fleet) Gone(i int) <-chan struct{} { return f.process(i).done }

// Kill ends replica i as kill -9 does.
func (f *Fleet) Kill(i int) { f.process(i).kill() }

// Terminate lets replica i hand its tenants over and end.
func (f *Fleet) Terminate(i int) error { return f.process(i).terminate() }

// Freeze stops replica i for a while, as a suspended host or a long pause of the
// garbage collector would, and lets it go on.
func (f *Fleet) Freeze(ctx context.Context, i int, d time.Duration) error {
	p := f.process(i)
	if err := p.freeze(); err != nil {
		return err
	}
	pause(ctx, d)
	return p.thaw()
}

// Close kills all replicas at once: what they have acknowledged must be on disk.
func (f *Fleet) Close() error {
	f.mu.Lock()
	processes := f.processes
	f.mu.Unlock()
	for _, p := range processes {
		if p != nil {
			p.kill()
		}
	}
	f.client.http.CloseIdleConnections()
	return nil
}

// Status returns what any replica that answers knows of the fleet.
func (f *Fleet) Status(ctx context.Context) (replica.Status, error) {
	var failures error
	for i, p := range f.cfg.Peers {
		if f.process(i).ended() {
			continue
		}
		status, err := f.status(ctx, p)
		if err == nil {
			return status, nil
		}
		failures = errors.Join(failures, err)
	}
	return replica.Status{}, failures
}

// AwaitServing blocks until every replica sees all of them alive, together they
// serve all tenants, and none waits for another's.
func (f *Fleet) AwaitServing(ctx context.Context) error {
	for {
		err := f.serving(ctx)
		if err == nil {
			return nil
		}
		if pause(ctx, pollEvery); ctx.Err() != nil {
			return fmt.Errorf("the fleet does not serve: %w", err)
		}
	}
}

func (f *Fleet) serving(ctx context.Context) error {
	served := 0
	for i, p := range f.cfg.Peers {
		if f.process(i).ended() {
			return fmt.Errorf("%s has ended, see %s", p.ID, f.LogPath(p.ID))
		}
		status, err := f.status(ctx, p)
		if err != nil {
			return err
		}
		if len(status.Alive) < len(f.cfg.Peers) {
			return fmt.Errorf("%s sees only %v alive", p.ID, status.Alive)
		}
		if status.Waiting > 0 {
			return fmt.Errorf("%s waits for %d tenants", p.ID, status.Waiting)
		}
		served += status.Serving
	}
	if served < f.cfg.Tenants {
		return fmt.Errorf("%d of %d tenants are served", served, f.cfg.Tenants)
	}
	return nil
}

// status asks one replica, which must know a leader.
func (f *Fleet) status(ctx context.Context, p replica.Peer) (replica.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	status, err := f.client.status(ctx, p.HTTP)
	if err == nil && !status.Ready {
		err = errors.New("it knows no leader")
	}
	if err != nil {
		return replica.Status{}, fmt.Errorf("%s: %w", p.ID, err)
	}
	return status, nil
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
