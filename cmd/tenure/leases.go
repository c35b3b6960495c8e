package main

import (
	"strconv"
	"time"

	"example.com/tenure/internal/httpapi"
)

// How tenures and records are printed.

// grant prints the answer to an acquire, a renewal, a release or a forget.
func (c *call) grant(g httpapi.Grant) error {
	if c.out.json() {
		return c.out.object(g)
	}
	t := table{heading: []string{"KEY", "OWNER", "EPOCH", "FORGOTTEN", "STATE", "TTL"}}
	state := "free"
	if g.Record.Held {
		state = "held"
	}
	t.rows = append(t.rows, append(recordCells(g.Record), state, millis(g.TTLMillis)))
	return c.out.table(t)
}

// only prints the result of a request with one item.
func (c *call) only(results []httpapi.Result) error {
	if err := results[0].Err; err != nil {
		return err
	}
	return c.grant(results[0].Grant)
}

// leases prints records as a node sees them.
func (c *call) leases(leases []httpapi.Lease) error {
	if c.out.json() {
		for _, l := range leases {
			if err := c.out.object(l); err != nil {
				return err
			}
		}
		return nil
	}
	t := table{heading: []string{"KEY", "OWNER", "EPOCH", "FORGOTTEN", "STATE", "TTL", "REMAINING"}}
	for _, l := range leases {
		t.rows = append(t.rows, append(recordCells(l.Record), state(l), millis(l.TTLMillis), millis(l.RemainingMillis)))
	}
	return c.out.table(t)
}

// state returns what a node makes of a record: held, expired (anybody may take
// the key over, but its owner can still renew) or free.
func state(l httpapi.Lease) string {
	switch {
	case !l.Record.Held:
		return "free"
	case l.Expired:
		return "expired"
	}
	return "held"
}

func recordCells(r httpapi.Record) []string {
	return []string{r.Key, r.Owner, epochCell(r.Epoch), epochCell(r.ForgottenAtEpoch)}
}

func epochCell(e httpapi.Epoch) string { return strconv.FormatUint(uint64(e), 10) }

// millis returns a number of milliseconds as a cell, which is empty for 0.
func millis(n int64) string {
	if n == 0 {
		return ""
	}
	return (time.Duration(n) * time.Millisecond).String()
}
