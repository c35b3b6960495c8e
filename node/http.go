package node

import (
	"fmt"
	"net"
	"net/http"

	"example.com/tenure"
	"example.com/tenure/internal/httpapi"
)

// httpHandler serves the HTTP API.
func (n *Node) httpHandler() http.Handler {
	cfg := httpapi.Config{Backend: backend{n}}
	if host, _, err := net.SplitHostPort(n.cfg.Advertise); err == nil {
		cfg.Hosts = []string{host}
	}
	return httpapi.NewHandler(cfg)
}

// backend is a node as the HTTP API sees it.
type backend struct{ *Node }

// Watch implements [httpapi.Reader].
func (b backend) Watch(o httpapi.WatchOptions) (httpapi.Watcher, error) {
	return b.Node.Watch(WatchOptions{Prefix: o.Prefix, Key: o.Key, After: o.After, Resume: o.HasAfter})
}

// validateListing checks a listing and fills in its limit.
func validateListing(l tenure.Listing) (tenure.Listing, error) {
	if l.Limit == 0 {
		l.Limit = tenure.DefaultListing
	}
	if l.Limit < 1 || l.Limit > tenure.MaxListing {
		return l, &tenure.InvalidError{Field: "limit", Value: fmt.Sprint(l.Limit), Bound: fmt.Sprintf("from 1 to %d", tenure.MaxListing)}
	}
	return l, nil
}
