package main

import (
	"context"

	"example.com/tenure/internal/httpapi"
)

var membersVerb = verb{
	name:    "members",
	summary: "list the cluster's nodes",
	help: `
A voter counts for the majority without which nothing is granted; a nonvoter
only follows.
`,
	prepare: prepareMembers,
}

func prepareMembers(c *call) action {
	where := c.place()
	return func(ctx context.Context) error {
		return where.ask(ctx, 0, func(ctx context.Context, client *httpapi.Client) error {
			members, err := client.Members(ctx)
			if err != nil {
				return err
			}
			return c.members(members)
		})
	}
}

func (c *call) members(members []httpapi.Member) error {
	t := table{heading: []string{"NODE", "ADDRESS", "ROLE", "INCARNATION"}}
	for _, m := range members {
		if c.out.json() {
			if err := c.out.object(m); err != nil {
				return err
			}
			continue
		}
		role := "nonvoter"
		switch {
		case m.Leader:
			role = "leader"
		case m.Voter:
			role = "voter"
		}
		t.rows = append(t.rows, []string{m.ID, m.Addr, role, m.Incarnation})
	}
	if c.out.json() {
		return nil
	}
	return c.out.table(t)
}
