package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"example.com/tenure"
	"example.com/tenure/internal/httpapi"
)

var acquireVerb = verb{
	name:    "acquire",
	summary: "acquire a key",
	help: `
The answer has the tenure's epoch: renew, release and forget want it, and what
the owner writes should carry it (the fencing token).

If another tenure has the key the answer is who has it, for how long, and the
exit code is 3. With --wait the call stands in line instead, first come first
served, and has the key in the moment in which it is free.

The owner must stop by itself before the key is free for others: TTL after the
call was MADE, not after the answer came. 'tenure run' does all of that for a
command.

If no answer came (exit code 5) the key may have been acquired nevertheless.
The message then has the request id: call again with it, which is always safe
and finds the tenure that the first call made, or release by it.

  tenure acquire tenant-1 --owner replica-7/1 --ttl 30s
  tenure acquire tenant-1 --owner replica-8/1 --wait 1m -o json
`,
	prepare: prepareAcquire,
}

func prepareAcquire(c *call) action {
	key, owner, ttl, wait := c.key(), c.owner(), c.ttl(), c.wait()
	id := c.requestID("names this acquire: a call that is made again under the same id is the same acquire (default a random one)")
	where := c.place()
	return func(ctx context.Context) error {
		if *id == "" {
			*id = rand.Text()
		}
		request := httpapi.AcquireRequest{Key: key.value, Owner: *owner, RequestID: *id,
			TTLMillis: ttl.Milliseconds(), WaitMillis: wait.Milliseconds()}
		return where.ask(ctx, *wait, func(ctx context.Context, client *httpapi.Client) error {
			grant, err := client.Acquire(ctx, request)
			if err != nil {
				return unfinished(err, request)
			}
			return c.grant(grant)
		})
	}
}

// An unfinishedError is an acquire that may have been carried out, and can be
// found out about under its request id.
type unfinishedError struct {
	request httpapi.AcquireRequest
	err     error
}

// unfinished adds the request id to an error that leaves the outcome open.
func unfinished(err error, request httpapi.AcquireRequest) error {
	var unavailable *tenure.UnavailableError
	if errors.As(err, &unavailable) && unavailable.MaybeApplied {
		return &unfinishedError{request, err}
	}
	return err
}

func (e *unfinishedError) Error() string { return e.err.Error() }

func (e *unfinishedError) Unwrap() error { return e.err }

// hint says how to find out.
func (e *unfinishedError) hint() string {
	return fmt.Sprintf("call again with --request-id %[1]s, which is safe, or give it back: tenure release %[2]s --owner %[3]s --request-id %[1]s",
		e.request.RequestID, quoteArg(e.request.Key), quoteArg(e.request.Owner))
}

// quoteArg returns text as a shell takes it for one argument.
func quoteArg(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@,+", r)
	}
	if text != "" && strings.TrimFunc(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
