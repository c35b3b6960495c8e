package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"

	"example.com/tenure"
	"example.com/tenure/cmd/tenure/internal/supervise"
	"example.com/tenure/holder"
	"example.com/tenure/node"
)

func runSupervisor(args []string) error { return supervise.Supervise(args) }

// do acquires the key, has the command run, and releases the key.
func (r *run) do(ctx context.Context) error {
	files, err := r.files()
	if err != nil {
		return err
	}
	// Whoever read what this process says may be gone. That is no reason to die
	// of SIGPIPE, and the command with it.
	catchInto(make(chan os.Signal, 1), unix.SIGPIPE)
	log := r.logger(hclog.Warn, false)
	client, err := node.Dial(node.ClientConfig{Addrs: r.where.addrs, Logger: log})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // the answers are in
	line := &line{Store: client}
	h, err := holder.New(holder.Config{Store: line, Replica: replica(), TTL: r.ttl, Margin: holderMargin(r.margin), Logger: log})
	if err != nil {
		return err
	}
	// One channel from here on: none comes while nobody listens, and finds the
	// key held and the process gone.
	signals := catch(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	defer signal.Stop(signals)
	lease, err := r.acquire(ctx, h, line, signals)
	if err != nil {
		return errors.Join(err, r.close(h))
	}
	w := &watch{run: r, lease: lease, files: files, gone: true}
	err = w.command(signals)
	if !w.gone {
		// Something of the command may still be running. Nobody else may have
		// the key before the TTL has passed, so nothing is released.
		return err
	}
	r.end(lease, w.fenced)
	if closing := r.close(h); closing != nil {
		r.out.note("%s is not known to be released; if it was not, it is free when its TTL has passed: %v", r.key, closing)
	}
	return err
}

// files returns what the command inherits as its standard streams.
func (r *run) files() (files [3]*os.File, err error) {
	for i, stream := range []any{r.stdin, r.stdout, r.stderr} {
		file, ok := stream.(*os.File)
		if !ok {
			return files, errors.New("the standard streams of run must be files, which the command inherits")
		}
		files[i] = file
	}
	return files, nil
}

// replica names the owner after the machine.
func replica() string {
	name, err := os.Hostname()
	if err != nil || len(name) > holder.MaxReplicaBytes || tenure.ValidateOwner(name) != nil {
		return "run"
	}
	return name
}

// holderMargin returns the margin as a holder takes it.
func holderMargin(margin time.Duration) time.Duration {
	if margin == 0 {
		return holder.NoMargin
	}
	return margin
}

// acquire acquires the key, unless a signal comes first.
func (r *run) acquire(ctx context.Context, h *holder.Holder, line *line, signals <-chan os.Signal) (*holder.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, r.wait+*r.where.timeout)
	defer cancel()
	take := h.Acquire
	if r.wait > 0 {
		take = h.AcquireWait
		line.until, line.leave = time.Now().Add(r.wait), cancel
	}
	var interrupted error
	caught := make(chan struct{})
	go func() {
		defer close(caught)
		select {
		case sig := <-signals:
			interrupted = &commandError{code: exitSignal + int(sig.(unix.Signal)), err: fmt.Errorf("%s: %v came before the key", r.key, sig)}
			cancel()
		case <-ctx.Done():
		}
	}()
	lease, err := take(ctx, r.key)
	cancel()
	<-caught
	if interrupted != nil {
		return nil, interrupted // closing the holder releases what it has
	}
	var held *tenure.HeldError
	if errors.As(err, &held) {
		return nil, held // whether or not it was waited for
	}
	return lease, err
}

// end releases the lease and, if that was asked for and the lease did not cut
// the command off, forgets the key's copies. What does not succeed is left to
// the TTL.
func (r *run) end(lease *holder.Lease, fenced bool) {
	ctx, cancel := context.WithTimeout(context.Background(), *r.where.timeout)
	defer cancel()
	release := lease.Release
	if r.forget && !fenced {
		release = lease.ReleaseForgotten
	}
	if err := release(ctx); err != nil {
		r.out.note("%s is not known to be released; if it was not, it is free when its TTL has passed: %v", r.key, err)
	}
}

func (r *run) close(h *holder.Holder) error {
	ctx, cancel := context.WithTimeout(context.Background(), *r.where.timeout)
	defer cancel()
	return h.Close(ctx)
}

// catch returns a channel of signals. A signal that was ignored when this
// process started stays ignored, for the command, too.
func catch(sigs ...os.Signal) chan os.Signal {
	caught := make(chan os.Signal, 16)
	catchInto(caught, sigs...)
	return caught
}

func catchInto(caught chan<- os.Signal, sigs ...os.Signal) {
	for _, sig := range sigs {
		if !signal.Ignored(sig) {
			signal.Notify(caught, sig)
		}
	}
}
