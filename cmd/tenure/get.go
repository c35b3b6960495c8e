package main

import (
	"context"

	"example.com/tenure/internal/httpapi"
)

var getVerb = verb{
	name:    "get",
	summary: "show who has a key",
	help: `
The record is read from the cluster, not from one node's memory: what was
acknowledged before the call is in it. STATE is held, free, or expired: the TTL
has passed and anybody who asks gets the key, but its owner can still renew.
Whether it is expired, and what REMAINING says, is the answering node's own
judgement.

A key that was never acquired is free at the epoch that it starts above.

  tenure get tenant-1
`,
	prepare: prepareGet,
}

func prepareGet(c *call) action {
	key := c.key()
	where := c.place()
	return func(ctx context.Context) error {
		return where.ask(ctx, 0, func(ctx context.Context, client *httpapi.Client) error {
			lease, err := client.Get(ctx, key.value)
			if err != nil {
				return err
			}
			return c.leases([]httpapi.Lease{lease})
		})
	}
}
