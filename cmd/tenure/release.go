package main

import (
	"context"

	"example.com/tenure/internal/httpapi"
)

var releaseVerb = verb{
	name:    "release",
	summary: "end a tenure: the key is free at once",
	help: `
Name the tenure by its epoch or, if its acquire never got an answer, by the
request id of that acquire. Stop whatever serves the key first: the next owner
may have it before this call returns.

Releasing the tenure of a process that is dead for sure spares the others the
wait for its TTL. 'tenure get' tells owner and epoch.

With --forget the copies that were written under this and all earlier epochs
are given up, and a key that needs none leaves nothing behind in the cluster.

Exit code 4: the tenure was over already. A release that got no answer (exit
code 5) and is called again says so, too, if the first one was carried out. By
a request id it says that no such tenure stands now: an acquire that is still on
its way, through a node that stood still, may begin one, for one TTL.

  tenure release tenant-1 --owner replica-7/1 --epoch 4
`,
	prepare: prepareRelease,
}

func prepareRelease(c *call) action {
	key, owner, epoch := c.key(), c.owner(), c.epoch(false)
	id := c.requestID("instead of --epoch: the request id of the acquire that made the tenure")
	forget := c.toggle("forget", "forget the copies of this and all earlier epochs, too; needs --epoch")
	where := c.place()
	c.afterwards(func() error {
		switch {
		case *epoch == 0 && *id == "":
			return c.usage("--epoch N is missing (or --request-id ID)")
		case *epoch != 0 && *id != "":
			return c.usage("--epoch and --request-id name two tenures: give one of them")
		case *forget && *epoch == 0:
			return c.usage("--forget needs --epoch N: copies are written under an epoch")
		}
		return nil
	})
	return func(ctx context.Context) error {
		return where.ask(ctx, 0, func(ctx context.Context, client *httpapi.Client) error {
			results, err := client.Release(ctx, httpapi.ReleaseRequest{Owner: *owner, Forget: *forget,
				Tenures: []httpapi.Ending{{Key: key.value, Epoch: httpapi.Epoch(*epoch), RequestID: *id}}})
			if err != nil {
				return err
			}
			return c.only(results)
		})
	}
}
