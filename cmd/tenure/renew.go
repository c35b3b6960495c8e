package main

import (
	"context"

	"example.com/tenure/internal/httpapi"
)

var renewVerb = verb{
	name:    "renew",
	summary: "renew a tenure",
	help: `
The key stays the owner's for another TTL. A TTL shorter than the tenure's
leaves the tenure's as it is; the answer has the one that holds.

Exit code 4 is final: the tenure is over, and its owner must stop. A tenure
whose TTL has passed can be renewed as long as nobody took the key over.

  tenure renew tenant-1 --owner replica-7/1 --epoch 4 --ttl 30s
`,
	prepare: prepareRenew,
}

func prepareRenew(c *call) action {
	key, owner, epoch, ttl := c.key(), c.owner(), c.epoch(true), c.ttl()
	where := c.place()
	return func(ctx context.Context) error {
		return where.ask(ctx, 0, func(ctx context.Context, client *httpapi.Client) error {
			results, err := client.Renew(ctx, httpapi.RenewRequest{Owner: *owner, TTLMillis: ttl.Milliseconds(),
				Tenures: []httpapi.Tenure{{Key: key.value, Epoch: httpapi.Epoch(*epoch)}}})
			if err != nil {
				return err
			}
			return c.only(results)
		})
	}
}
