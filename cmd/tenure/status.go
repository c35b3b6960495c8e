package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"example.com/tenure/internal/httpapi"
)

var statusVerb = verb{
	name:    "status",
	summary: "show what a node knows of itself and the cluster",
	help: `
The first node at --addr that answers tells what it knows, without asking the
others. LEADER is empty when it knows none: then no majority of the voters is
up, or they are electing. A node that can't serve yet says what it WAITS FOR. Two
nodes at the same applied index must have the same checksum.

  tenure status --addr 127.0.0.1:7401
`,
	prepare: prepareStatus,
}

func prepareStatus(c *call) action {
	where := c.place()
	return func(ctx context.Context) error {
		return where.ask(ctx, 0, func(ctx context.Context, client *httpapi.Client) error {
			status, err := client.Status(ctx)
			if err != nil {
				return err
			}
			if c.out.json() {
				return c.out.object(status)
			}
			return c.out.table(statusTable(status))
		})
	}
}

func statusTable(s httpapi.Status) table {
	t := table{heading: []string{"NODE", s.ID}, rows: [][]string{
		{"ADDRESS", s.Addr},
		{"VERSION", s.Version},
		{"ROLE", s.Role},
		{"LEADER", strings.TrimSpace(s.Leader + " " + s.LeaderAddr)},
		{"MEMBERS", strconv.Itoa(len(s.Members))},
		{"CLUSTER", s.ClusterID},
		{"TERM", fmt.Sprint(s.Term)},
		{"COMMITTED", fmt.Sprint(s.CommitIndex)},
		{"APPLIED", fmt.Sprint(s.AppliedIndex)},
		{"CHECKSUM", s.Checksum},
		{"LARGEST TTL", millis(s.LargestTTLMillis)},
		{"KEYS", fmt.Sprintf("%d, %d of them held", s.Records, s.Held)},
		{"IN LINE", strconv.Itoa(s.Waiting)},
	}}
	if s.WaitsFor != "" {
		t.rows = append(t.rows, []string{"WAITS FOR", s.WaitsFor})
	}
	if s.Failure != "" {
		t.rows = append(t.rows, []string{"FAILURE", s.Failure})
	}
	return t
}
