package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A route is a method and a path with its endpoint. A path that ends in a slash
// is followed by a name. Package http's own mux would clean paths, and so
// change names.
type route struct {
	method   string
	path     string   // encoded
	endpoint endpoint // nil for the watch, which writes its answer itself
}

// name returns the decoded name that follows the route's path.
func (r *route) name(path string) (name string, ok bool) {
	if !strings.HasSuffix(r.path, "/") {
		return "", path == r.path
	}
	encoded, ok := strings.CutPrefix(path, r.path)
	if !ok {
		return "", false
	}
	name, err := url.PathUnescape(encoded)
	return name, err == nil
}

// allows reports whether the route is for that method. A HEAD is a GET without
// the body, which a watch has nothing without.
func (r *route) allows(method string) bool {
	return method == r.method || method == http.MethodHead && r.method == http.MethodGet && r.endpoint != nil
}

// find returns the route of a request and the name in its path.
func (s *server) find(r *http.Request) (*route, string, error) {
	path := r.URL.EscapedPath()
	var methods []string
	for i := range s.routes {
		name, ok := s.routes[i].name(path)
		switch {
		case !ok:
		case s.routes[i].allows(r.Method):
			return &s.routes[i], name, nil
		default:
			methods = append(methods, s.routes[i].method)
		}
	}
	if methods == nil {
		return nil, "", refusedWith(http.StatusNotFound, "path", shown([]byte(path)), "a path of the API, like /v1/leases")
	}
	slices.Sort(methods)
	refusal := refusedWith(http.StatusMethodNotAllowed, "method", shown([]byte(r.Method)), fmt.Sprintf("%s for %s", strings.Join(methods, " or "), shown([]byte(path))))
	refusal.allow = strings.Join(methods, ", ")
	return nil, "", refusal
}

// query returns the query's parameters, which must be among those named and
// come once.
func query(r *request, names ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, invalid("query", shown([]byte(r.URL.RawQuery)), "well formed: "+err.Error())
	}
	bound := "left out: there are none here"
	if len(names) > 0 {
		bound = "one of " + strings.Join(names, ", ")
	}
	for name, given := range values {
		if !slices.Contains(names, name) {
			return nil, invalid("query parameter", strconv.Quote(name), bound)
		}
		if len(given) > 1 {
			return nil, invalid(name, shown([]byte(given[1])), "given once")
		}
	}
	return values, nil
}
