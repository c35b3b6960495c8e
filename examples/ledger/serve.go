package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
	"example.com/tenure/examples/ledger/replica"
)

// closeTime is how long a replica may take to hand its tenants over and stop.
const closeTime = 15 * time.Second

// runReplica runs one replica until ctx ends, and then hands its tenants over.
func runReplica(ctx context.Context, args []string, stdin io.Reader, stderr io.Writer) error {
	flags := flag.NewFlagSet("ledger", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var cfg replica.Config
	flags.StringVar(&cfg.ID, "id", "", "name of this replica, one of those in -peers")
	peers := flags.String("peers", "", "all replicas: r1=HOST:PORT/HOST:PORT,... with the addresses of the node and of the API")
	flags.StringVar(&cfg.Listen, "listen", "", "HOST:PORT at which the node listens (default: the one in -peers)")
	flags.StringVar(&cfg.HTTP, "http", "", "HOST:PORT at which the API listens (default: the one in -peers)")
	dial := flags.String("dial", "", "replicas that this one reaches elsewhere than at their address in -peers, in the same form")
	flags.StringVar(&cfg.Data, "data", "", "folder of the node's data, this replica's own")
	flags.StringVar(&cfg.Ledgers, "ledgers", "", "folder of the ledgers, shared by the fleet")
	flags.IntVar(&cfg.Tenants, "tenants", 100, "number of tenants")
	flags.DurationVar(&cfg.TTL, "ttl", 10*time.Second, "TTL of the leases")
	flags.DurationVar(&cfg.Margin, "margin", 0, "how long before its lease expires a replica stops (default: a tenth of the TTL)")
	level := flags.String("log-level", "info", "debug, info, warn or error")
	whileStdin := flags.Bool("while-stdin", false, "stop when standard input ends, as it does when the process that started this one dies")
	if err := parse(flags, args); err != nil {
		return err
	}
	var err error
	if cfg.Peers, err = replica.ParsePeers(*peers); err != nil {
		return err
	}
	if *dial != "" {
		if cfg.Dial, err = replica.ParsePeers(*dial); err != nil {
			return fmt.Errorf("-dial: %w", err)
		}
	}
	if hclog.LevelFromString(*level) == hclog.NoLevel {
		return &tenure.InvalidError{Field: "log-level", Value: strconv.Quote(*level), Bound: "debug, info, warn or error"}
	}
	cfg.Logger = hclog.New(&hclog.LoggerOptions{Name: cfg.ID, Level: hclog.LevelFromString(*level), Output: stderr})
	if *whileStdin {
		var stop context.CancelFunc
		ctx, stop = context.WithCancel(ctx)
		defer stop()
		go func() {
			io.Copy(io.Discard, stdin) // an error is an end, too
			stop()
		}()
	}
	return serve(ctx, cfg)
}

func serve(ctx context.Context, cfg replica.Config) error {
	r, err := replica.Open(ctx, cfg)
	if err != nil {
		return err
	}
	var failure error
	select {
	case <-ctx.Done():
		cfg.Logger.Info("leaving: the tenants are handed over")
	case <-r.Done():
		failure = fmt.Errorf("the node stopped: %w", r.Err())
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	return errors.Join(failure, r.Close(closing))
}

// parse parses flags and refuses what is left over.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return errUsage // the flags have said it
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(flags.Output(), "ledger: unexpected argument %q\n", flags.Arg(0))
		return errUsage
	}
	return nil
}
