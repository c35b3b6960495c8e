package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"example.com/tenure"
)

// List returns a page of records.
func (c *Client) List(ctx context.Context, l tenure.Listing) (Leases, error) {
	query := url.Values{}
	for name, value := range map[string]string{"prefix": l.Prefix, "owner": l.Owner, "cursor": l.Cursor} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if l.Limit != 0 {
		query.Set("limit", strconv.Itoa(l.Limit))
	}
	var answer Leases
	err := c.do(ctx, call{method: http.MethodGet, path: withQuery("/v1/leases", query)}, &answer)
	return answer, err
}

// Status returns what a node knows of itself and the cluster.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var answer Status
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/status"}, &answer)
	return answer, err
}

// Members lists the cluster's nodes.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	var answer Members
	err := c.do(ctx, call{method: http.MethodGet, path: "/v1/members"}, &answer)
	return answer.Members, err
}

// Join lets the node that listens at req.Addr into the cluster.
func (c *Client) Join(ctx context.Context, req JoinRequest) error {
	return c.do(ctx, call{method: http.MethodPost, path: "/v1/members", body: req}, nil)
}

// Remove takes a node out of the cluster for good.
func (c *Client) Remove(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, path: "/v1/members/" + escapeSegment(id)}, nil)
}

// Transfer hands leadership to the voter with that id, or to any if id is
// empty.
func (c *Client) Transfer(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodPost, path: "/v1/transfer", body: TransferRequest{ID: id}}, nil)
}
