package main

import (
	"context"

	"example.com/tenure/internal/httpapi"
)

var forgetVerb = verb{
	name:    "forget",
	summary: "give up the durable copies of a key that is held",
	help: `
From now on copies written under the tenure's epoch and all earlier ones are
dead: no later owner reads them. The tenure itself goes on; release it when you
are done. Stop writing before the call: what is written after it is lost.

Exit code 4: the tenure is over. A forget that got no answer (exit code 5) and
is called again says so, too, if the tenure has ended meanwhile: the first one
was carried out only if the key's forgotten epoch, which 'tenure get' shows
(forgotten_at_epoch in JSON), is the tenure's or a later one.

  tenure forget tenant-1 --owner replica-7/1 --epoch 4
`,
	prepare: prepareForget,
}

func prepareForget(c *call) action {
	key, owner, epoch := c.key(), c.owner(), c.epoch(true)
	where := c.place()
	return func(ctx context.Context) error {
		return where.ask(ctx, 0, func(ctx context.Context, client *httpapi.Client) error {
			grant, err := client.Forget(ctx, httpapi.ForgetRequest{Key: key.value, Owner: *owner, Epoch: httpapi.Epoch(*epoch)})
			if err != nil {
				return err
			}
			return c.grant(grant)
		})
	}
}
