package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that ends at SIGINT or SIGTERM. A second such
// signal, once the context has ended, ends the process, as if it had never been
// caught.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer cancel()
		defer signal.Stop(caught) // before the end is told
		select {
		case <-caught:
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
