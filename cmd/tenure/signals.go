package main

import (
	"context"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that ends at SIGINT or SIGTERM. A second such
// signal then ends the process, as if it had never been caught.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
