package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"example.com/tenure"
)

// A call is one request as it goes to a node.
type call struct {
	method string
	path   string // encoded, with the query
	key    string // that it is about, for errors; "" if it is not about one
	body   any    // nil for none
	header http.Header
}

// do makes the call and decodes the answer, unless it is nil.
func (c *Client) do(ctx context.Context, call call, answer any) error {
	response, err := c.open(ctx, call)
	if err != nil {
		return err
	}
	defer drain(response.Body)
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return interrupted(ctx, call.key, call.changes(), "the answer can't be read", err)
	}
	return nil
}

// open makes the call at one address after the other and returns the first
// answer that is a success.
func (c *Client) open(ctx context.Context, call call) (*http.Response, error) {
	var body []byte
	if call.body != nil {
		var err error
		if body, err = json.Marshal(call.body); err != nil {
			return nil, &tenure.InvalidError{Key: call.key, Field: "body", Value: err.Error(), Bound: "possible to write as JSON"}
		}
	}
	var failed error
	for _, addr := range c.order() {
		response, err := c.attempt(ctx, call, c.addrs[addr], body)
		if err == nil {
			c.prefer(addr)
			return response, nil
		}
		var unavailable *tenure.UnavailableError
		if !errors.As(err, &unavailable) || unavailable.MaybeApplied || ctx.Err() != nil {
			return nil, err
		}
		failed = further(failed, unavailable)
	}
	return nil, failed
}

// further adds what one more address said to what the ones before it did.
func further(before error, err *tenure.UnavailableError) error {
	var earlier *tenure.UnavailableError
	if !errors.As(before, &earlier) {
		return err
	}
	reason := earlier.Reason
	if earlier.Err != nil {
		reason += ": " + earlier.Err.Error()
	}
	return &tenure.UnavailableError{Key: err.Key, Reason: reason + "; " + err.Reason, Err: err.Err}
}

// attempt makes the call at one address.
func (c *Client) attempt(ctx context.Context, call call, addr string, body []byte) (*http.Response, error) {
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), call.method, "http://"+addr+call.path, bytes.NewReader(body))
	if err != nil {
		return nil, &tenure.InvalidError{Key: call.key, Field: "addr", Value: addr, Bound: boundAddr}
	}
	for name, values := range call.header {
		request.Header[name] = values
	}
	askTimeout(ctx, request.Header)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, interrupted(ctx, call.key, call.changes() && sent.Load(), "asking "+addr, plain(err))
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer drain(response.Body)
	return nil, call.refused(addr, response)
}

// plain returns the cause of a failed request without the method and URL which
// package http puts before it.
func plain(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		return outer.Err
	}
	return err
}

// maxRefusal bounds what is read of a refusal.
const maxRefusal = 1 << 20

// refused returns the error of an answer that is no success.
func (call call) refused(addr string, response *http.Response) error {
	var refusal Refusal
	err := json.NewDecoder(io.LimitReader(response.Body, maxRefusal)).Decode(&refusal)
	if err != nil || refusal.Code == "" {
		return &tenure.UnavailableError{Key: call.key, MaybeApplied: call.changes(),
			Reason: fmt.Sprintf("%s answered %s, which is no answer of a node", addr, response.Status)}
	}
	return refusal.Err()
}

// drain reads the little that may be left of an answer, so that its connection
// can serve the next call, and closes it.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 4<<10)
	_ = body.Close()
}

// changes reports whether the call may change something.
func (call call) changes() bool { return call.method != http.MethodGet }

// escapeSegment encodes text as one segment of a path, dots included: a "." or
// ".." on its own would be taken for a step on the way.
func escapeSegment(text string) string {
	return strings.ReplaceAll(url.PathEscape(text), ".", "%2E")
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
