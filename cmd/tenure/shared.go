package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"example.com/tenure"
	"example.com/tenure/internal/httpapi"
)

// Flags that several verbs have.

// Defaults of flags.
const (
	defaultAddr    = "127.0.0.1:7400"
	defaultTimeout = 5 * time.Second
	defaultTTL     = 10 * time.Second
)

// addrVariable is the environment's variable for --addr.
const addrVariable = "TENURE_ADDR"

func (f *flags) format() *string {
	format := formatTable
	f.add(flagRow{name: "o", value: "FORMAT", usage: "table, or json for one JSON object a line (default table)"}, func(text string) error {
		if text != formatTable && text != formatJSON {
			return invalid("o", strconv.Quote(text), "table or json")
		}
		format = text
		return nil
	})
	return &format
}

func (f *flags) ttl() *time.Duration {
	return f.duration("ttl", "time to live: the key is free that long after the last renewal, unless it is released", defaultTTL, func(ttl time.Duration) error {
		return tenure.ValidateTTL(ttl, tenure.MaxTTL)
	})
}

func (f *flags) wait() *time.Duration {
	return f.duration("wait", "how long to stand in line if the key is held", 0, func(wait time.Duration) error {
		if wait%time.Millisecond != 0 {
			return invalid("wait", wait.String(), fmt.Sprintf("a whole number of milliseconds from 0s to %v", tenure.MaxWait))
		}
		return tenure.ValidateWait(wait)
	})
}

func (f *flags) timeout(what string) *time.Duration {
	return f.duration("timeout", what, defaultTimeout, func(timeout time.Duration) error {
		if timeout <= 0 || timeout > tenure.MaxWait {
			return invalid("timeout", timeout.String(), fmt.Sprintf("more than 0s, at most %v", tenure.MaxWait))
		}
		return nil
	})
}

func (f *flags) owner() *string {
	return f.text(flagRow{name: "owner", value: "O", required: true, usage: "who holds the tenure: one process incarnation of a replica, 1 to 256 bytes"}, tenure.ValidateOwner)
}

func (f *flags) requestID(usage string) *string {
	return f.text(flagRow{name: "request-id", value: "ID", usage: usage}, tenure.ValidateRequestID)
}

// epoch declares the epoch of a tenure; it is 0 if it was left out.
func (f *flags) epoch(required bool) *uint64 {
	epoch := new(uint64)
	f.add(flagRow{name: "epoch", value: "N", required: required, usage: "the tenure's epoch, as its acquire told"}, func(text string) error {
		parsed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return invalid("epoch", strconv.Quote(text), fmt.Sprintf("from 1 to %d", uint64(tenure.MaxEpoch)))
		}
		*epoch = parsed
		return tenure.ValidateEpoch(parsed)
	})
	return epoch
}

func (f *flags) key() *operand { return f.operand("KEY", tenure.ValidateKey) }

// A place is where the cluster is, as --addr or TENURE_ADDR say.
type place struct {
	addrs   []string
	timeout *time.Duration // nil if nothing limits the call
}

// place declares --addr and --timeout.
func (c *call) place() *place {
	p := c.address()
	p.timeout = c.timeout("how long to wait for an answer, and no longer")
	return p
}

// address declares --addr.
func (c *call) address() *place {
	p := &place{}
	given := c.text(flagRow{name: "addr", value: "HOST:PORT[,...]",
		usage: fmt.Sprintf("some nodes of the cluster, tried in turn (default $%s, or %s)", addrVariable, defaultAddr)}, anyText)
	c.afterwards(func() error {
		what, text := "--addr", *given
		if !c.given("addr") {
			what, text = addrVariable, c.lookup(addrVariable)
			if text == "" {
				text = defaultAddr
			}
		}
		p.addrs = strings.Split(text, ",")
		_, err := httpapi.NewClient(p.addrs...)
		return c.refuse(what, err)
	})
	return p
}

// ask makes calls of the API. They may take as long as --timeout says, and
// longer by extra.
func (p *place) ask(ctx context.Context, extra time.Duration, ask func(ctx context.Context, client *httpapi.Client) error) error {
	client, err := httpapi.NewClient(p.addrs...)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, *p.timeout+extra)
	defer cancel()
	return ask(ctx, client)
}
