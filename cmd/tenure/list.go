package main

import (
	"context"

	"example.com/tenure"
	"example.com/tenure/internal/httpapi"
)

var listVerb = verb{
	name:    "list",
	summary: "list keys and who has them",
	help: `
One node answers from its own state, which may lag behind by a moment: 'tenure
get' asks the cluster. Keys come in the order of their bytes. STATE is as in
'tenure help get'.

  tenure list --prefix tenant- --owner replica-7/1
`,
	prepare: prepareList,
}

// mostListed bounds --limit. It is no limit of the cluster: without the flag
// all is listed.
const mostListed = 1 << 30

func prepareList(c *call) action {
	prefix := c.text(flagRow{name: "prefix", value: "P", usage: "only keys that start with this"}, anyText)
	owner := c.text(flagRow{name: "owner", value: "O", usage: "only tenures of this owner"}, tenure.ValidateOwner)
	limit := c.count("limit", "at most so many (default all)", 0, 1, mostListed)
	where := c.place()
	return func(ctx context.Context) error {
		return where.ask(ctx, 0, func(ctx context.Context, client *httpapi.Client) error {
			leases, err := listAll(ctx, client, tenure.Listing{Prefix: *prefix, Owner: *owner}, *limit)
			if err != nil {
				return err
			}
			return c.leases(leases)
		})
	}
}

// listAll takes page after page, until there is none or limit is reached. A
// limit of 0 is none.
func listAll(ctx context.Context, client *httpapi.Client, what tenure.Listing, limit int) ([]httpapi.Lease, error) {
	var leases []httpapi.Lease
	for {
		what.Limit = tenure.MaxListing
		if limit > 0 {
			what.Limit = min(what.Limit, limit-len(leases))
		}
		page, err := client.List(ctx, what)
		if err != nil {
			return nil, err
		}
		leases = append(leases, page.Leases...)
		what.Cursor = page.Cursor
		if what.Cursor == "" || len(leases) == limit {
			return leases, nil
		}
	}
}
