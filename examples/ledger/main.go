// Command ledger is a small HTTP service, and the first user of the lease
// cluster that it embeds: each tenant has a ledger, of which several processes
// keep a copy in turn. See the README.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"example.com/tenure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command. It returns the exit code: 0 done, 1 failed, 2 wrong usage.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var err error
	if len(args) > 0 && args[0] == "fleet" {
		err = runFleet(ctx, args[1:], stdout, stderr)
	} else {
		err = runReplica(ctx, args, stdin, stderr)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	case errors.Is(err, tenure.ErrInvalid):
		fmt.Fprintln(stderr, "ledger:", err)
		return 2
	default:
		fmt.Fprintln(stderr, "ledger:", err)
		return 1
	}
}

// errUsage says that the flags were wrong, and that this has been said.
var errUsage = errors.New("wrong usage")
