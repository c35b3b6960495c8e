package main

import (
	"context"
	"fmt"

	"example.com/tenure/internal/httpapi"
)

var joinVerb = verb{
	name:    "join",
	summary: "let a node into the cluster",
	help: `
The node must have been started with 'tenure serve --join' and an empty data
folder; ID and ADDR are its own --id and the address at which the others reach
it. A node that is started with --join asks by itself, so this is for one that
could not, or that nobody should have to ask.

  tenure join n4 10.0.0.4:7400
`,
	prepare: prepareJoin,
}

func prepareJoin(c *call) action {
	id, addr := c.operand("ID", nil), c.operand("ADDR", nil)
	nonvoter := c.toggle("nonvoter", "let it follow without a vote")
	where := c.place()
	return func(ctx context.Context) error {
		request := httpapi.JoinRequest{ID: id.value, Addr: addr.value, Nonvoter: *nonvoter}
		return where.ask(ctx, 0, func(ctx context.Context, client *httpapi.Client) error {
			if err := client.Join(ctx, request); err != nil {
				return err
			}
			return c.did(request, "%s at %s is a member now", id.value, addr.value)
		})
	}
}

var removeVerb = verb{
	name:    "remove",
	summary: "take a node out of the cluster for good",
	help: `
The node stops, and its data is of no use any more. Under the same or another
id it comes back only with an empty data folder, by joining. Removing a node
that is down for good lets the others count majorities without it.

An id that no member has is refused with exit code 2. If an earlier call got no
answer, that refusal says that it was carried out.

  tenure remove n3
`,
	prepare: prepareRemove,
}

func prepareRemove(c *call) action {
	id := c.operand("ID", nil)
	where := c.place()
	return func(ctx context.Context) error {
		return where.ask(ctx, 0, func(ctx context.Context, client *httpapi.Client) error {
			if err := client.Remove(ctx, id.value); err != nil {
				return err
			}
			return c.did(named{ID: id.value}, "%s is no member any more", id.value)
		})
	}
}

var transferVerb = verb{
	name:    "transfer",
	summary: "hand leadership to another node",
	help: `
Without ID the leader chooses a voter that is up to date. No lease is shortened
or extended by it, and calls that arrive meanwhile wait.

  tenure transfer n2
`,
	prepare: prepareTransfer,
}

func prepareTransfer(c *call) action {
	id := c.option("ID", nil)
	where := c.place()
	return func(ctx context.Context) error {
		return where.ask(ctx, 0, func(ctx context.Context, client *httpapi.Client) error {
			if err := client.Transfer(ctx, id.value); err != nil {
				return err
			}
			to := id.value
			if to == "" {
				to = "another node"
			}
			return c.did(named{ID: id.value}, "leadership was handed to %s", to)
		})
	}
}

// named is the object that answers a verb about one node.
type named struct {
	ID string `json:"id"`
}

// did prints that something was done, as an object or as a sentence.
func (c *call) did(object any, format string, args ...any) error {
	if c.out.json() {
		return c.out.object(object)
	}
	return c.out.text(fmt.Sprintf(format, args...) + "\n")
}
