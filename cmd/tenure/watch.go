package main

import (
	"context"
	"fmt"

	"example.com/tenure"
	"example.com/tenure/internal/httpapi"
)

var watchVerb = verb{
	name:    "watch",
	summary: "print changes of who has which key as they happen",
	help: `
With KEY the changes of that key, with --prefix those of all keys that start
with it, else all. A change is granted, released or forgotten; a renewal and the
passing of a TTL are none. INDEX is the Raft log's.

It goes on until SIGINT (Ctrl-C) or SIGTERM, which is exit code 0. If its node
goes away it goes on with the next one at --addr. When changes were lost on the
way it says 'missed': look at the state again, with 'tenure list'. When it has
begun it says so on standard error, with -o json as well: no change after that
is overlooked.

  tenure watch --prefix tenant-
`,
	prepare: prepareWatch,
}

func prepareWatch(c *call) action {
	key := c.option("KEY", tenure.ValidateKey)
	prefix := c.text(flagRow{name: "prefix", value: "P", usage: "only keys that start with this"}, anyText)
	where := c.address()
	c.afterwards(func() error {
		if key.given && c.given("prefix") {
			return c.usage("KEY and --prefix exclude each other")
		}
		return nil
	})
	return func(ctx context.Context) error {
		client, err := httpapi.NewClient(where.addrs...)
		if err != nil {
			return err
		}
		defer client.Close()
		ctx, stop := untilSignal(ctx)
		defer stop()
		err = client.Watch(ctx, httpapi.WatchOptions{Key: key.value, Prefix: *prefix}, c.watching, c.printer())
		if ctx.Err() != nil {
			return nil // the user has seen enough
		}
		return err
	}
}

// watching tells that from now on every change is seen. It goes to standard
// error in either format: standard output has the changes, and only those.
func (c *call) watching() { fmt.Fprintln(c.stderr, "tenure watch: watching") }

// eventColumns has the columns of a table that is never complete.
const eventColumns = "%-8v  %-9s  %-9v  %-9v  %s  %s\n"

// printer returns what prints an event. The heading comes with the first one.
func (c *call) printer() func(httpapi.Event) error {
	first := true
	return func(e httpapi.Event) error {
		if c.out.json() {
			return c.out.object(e)
		}
		text := ""
		if first {
			text = fmt.Sprintf(eventColumns, "INDEX", "EVENT", "EPOCH", "FORGOTTEN", "KEY", "OWNER")
		}
		first = false
		if e.Record == nil {
			e.Record = &httpapi.Record{Key: "-"}
		}
		text += fmt.Sprintf(eventColumns, e.Index, e.Event, e.Record.Epoch, e.Record.ForgottenAtEpoch, e.Record.Key, orDash(e.Record.Owner))
		return c.out.text(text)
	}
}
