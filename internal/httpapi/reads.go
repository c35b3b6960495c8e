package httpapi

import (
	"fmt"
	"strconv"

	"example.com/tenure"
)

// get answers GET /v1/leases/{key}.
func (s *server) get(r *request) (any, error) {
	if _, err := query(r); err != nil {
		return nil, err
	}
	if err := tenure.ValidateKey(r.name); err != nil {
		return nil, err
	}
	ctx, cancel := bounded(r, 0)
	defer cancel()
	view, err := s.backend.Get(ctx, r.name)
	if err != nil {
		return nil, reading(err)
	}
	return LeaseOf(view), nil
}

// list answers GET /v1/leases.
func (s *server) list(r *request) (any, error) {
	listing, err := listing(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := bounded(r, 0)
	defer cancel()
	page, err := s.backend.List(ctx, listing)
	if err != nil {
		return nil, reading(err)
	}
	leases := make([]Lease, len(page.Views))
	for i, view := range page.Views {
		leases[i] = LeaseOf(view)
	}
	return Leases{Leases: leases, Cursor: page.Cursor}, nil
}

// listing reads the query of a list.
func listing(r *request) (tenure.Listing, error) {
	values, err := query(r, "prefix", "owner", "limit", "cursor")
	if err != nil {
		return tenure.Listing{}, err
	}
	l := tenure.Listing{Prefix: values.Get("prefix"), Owner: values.Get("owner"), Cursor: values.Get("cursor")}
	if values.Has("limit") {
		given := values.Get("limit")
		l.Limit, err = strconv.Atoi(given)
		if err != nil || l.Limit < 1 || l.Limit > tenure.MaxListing {
			return l, invalid("limit", shown([]byte(given)), fmt.Sprintf("from 1 to %d", tenure.MaxListing))
		}
	}
	if l.Owner != "" {
		err = tenure.ValidateOwner(l.Owner)
	}
	for name, text := range map[string]string{"prefix": l.Prefix, "cursor": l.Cursor} {
		if len(text) > tenure.MaxKeyBytes {
			err = invalid(name, shown([]byte(text)), fmt.Sprintf("at most %d bytes", tenure.MaxKeyBytes))
		}
	}
	return l, err
}
