package httpapi

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/tenure"
)

// A Client calls the API of the nodes at its addresses. It tries them in order,
// beginning with the one that answered last, and goes on to the next one when a
// node surely did nothing: it can't be reached, or says so. A request that may
// have been carried out is not sent again, unless it only reads; the caller
// decides.
//
// All methods honour their context, and can be called concurrently. Their errors
// are those of package tenure: what a node refused is the error that it stands
// for, and everything else is an [*tenure.UnavailableError].
type Client struct {
	addrs []string
	http  *http.Client

	mu   sync.Mutex
	next int // the address that answered last
}

// NewClient returns a client of the nodes at addrs, each HOST:PORT. No
// connection is made yet. The error is an [*tenure.InvalidError].
func NewClient(addrs ...string) (*Client, error) {
	if len(addrs) == 0 {
		return nil, &tenure.InvalidError{Field: "addr", Value: `""`, Bound: boundAddr}
	}
	for _, addr := range addrs {
		if err := validateAddr(addr); err != nil {
			return nil, err
		}
	}
	transport := &http.Transport{
		// No proxy: the nodes are the fleet's own, and a proxy that waits for
		// a whole answer would hold up a watch.
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConnsPerHost: 16,
		IdleConnTimeout:     time.Minute,
	}
	return &Client{addrs: slices.Clone(addrs), http: &http.Client{Transport: transport, CheckRedirect: noRedirect}}, nil
}

// dialTimeout bounds one attempt to connect, so that an address which swallows
// packets leaves time for the others.
const dialTimeout = 2 * time.Second

const boundAddr = "HOST:PORT with a port from 1 to 65535"

func validateAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	n, notNumber := strconv.ParseUint(port, 10, 16)
	if err != nil || notNumber != nil || n == 0 || strings.ContainsAny(host, "/?#@ ") {
		return &tenure.InvalidError{Field: "addr", Value: strconv.Quote(addr), Bound: boundAddr}
	}
	return nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close ends idle connections. Calls that are under way go on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// order returns the addresses in the order to try them.
func (c *Client) order() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	order := make([]int, len(c.addrs))
	for i := range order {
		order[i] = (c.next + i) % len(c.addrs)
	}
	return order
}

func (c *Client) prefer(addr int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = addr
}

// Acquire asks for one key; req.Keys must be empty. A retry with the same
// request id is always safe.
func (c *Client) Acquire(ctx context.Context, req AcquireRequest) (Grant, error) {
	var answer Grant
	err := c.do(ctx, call{method: http.MethodPost, path: "/v1/acquire", key: req.Key, body: req}, &answer)
	return answer, err
}

// Renew extends tenures; the results are in their order.
func (c *Client) Renew(ctx context.Context, req RenewRequest) ([]Result, error) {
	req.Tenures = append([]Tenure{}, req.Tenures...) // none is an empty array, not null
	return c.results(ctx, "/v1/renew", req, len(req.Tenures))
}

// Release ends tenures; the results are in their order.
func (c *Client) Release(ctx context.Context, req ReleaseRequest) ([]Result, error) {
	req.Tenures = append([]Ending{}, req.Tenures...)
	return c.results(ctx, "/v1/release", req, len(req.Tenures))
}

func (c *Client) results(ctx context.Context, path string, body any, want int) ([]Result, error) {
	var answer Results
	if err := c.do(ctx, call{method: http.MethodPost, path: path, body: body}, &answer); err != nil {
		return nil, err
	}
	if got := len(answer.Results); got != want {
		return nil, &tenure.UnavailableError{MaybeApplied: true, Reason: "the answer has " + strconv.Itoa(got) + " results for " + strconv.Itoa(want) + " items"}
	}
	return answer.Results, nil
}

// Forget raises the forgotten epoch of the key to the tenure's epoch.
func (c *Client) Forget(ctx context.Context, req ForgetRequest) (Grant, error) {
	var answer Grant
	err := c.do(ctx, call{method: http.MethodPost, path: "/v1/forget", key: req.Key, body: req}, &answer)
	return answer, err
}

// Get returns a key's record, linearizably.
func (c *Client) Get(ctx context.Context, key string) (Lease, error) {
	var answer Lease
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/leases/" + escapeSegment(key), key: key}, &answer)
	return answer, err
}
