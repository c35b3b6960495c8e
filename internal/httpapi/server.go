package httpapi

import (
	"net/http"
	"time"

	"example.com/tenure"
)

// MaxBody is how many bytes the body of a request may have.
const MaxBody = 8 << 20

// Config is what a server needs.
type Config struct {
	Backend Backend
	// Hosts are names with a dot, besides IP addresses and names under
	// localhost, by which the node may be called over a loopback connection.
	Hosts []string
}

// NewHandler returns the API of a backend. Bounds on the header, and on the
// time that a client takes to send it, are up to the HTTP server that it is
// given to. A watch lasts until its client goes away or the backend ends it, so
// that server sets no WriteTimeout.
func NewHandler(cfg Config) http.Handler {
	s := &server{backend: cfg.Backend, hosts: cfg.Hosts}
	s.routes = []route{
		{http.MethodPost, "/v1/acquire", s.acquire},
		{http.MethodPost, "/v1/renew", s.renew},
		{http.MethodPost, "/v1/release", s.release},
		{http.MethodPost, "/v1/forget", s.forget},
		{http.MethodGet, "/v1/leases", s.list},
		{http.MethodGet, "/v1/leases/", s.get},
		{http.MethodGet, "/v1/watch", nil},
		{http.MethodGet, "/v1/status", s.status},
		{http.MethodGet, "/v1/members", s.members},
		{http.MethodPost, "/v1/members", s.join},
		{http.MethodDelete, "/v1/members/", s.remove},
		{http.MethodPost, "/v1/transfer", s.transfer},
		{http.MethodGet, "/healthz", s.health},
		{http.MethodGet, "/readyz", s.ready},
	}
	return s
}

type server struct {
	backend Backend
	hosts   []string
	routes  []route
}

// A request is one that found its route.
type request struct {
	*http.Request
	writer  http.ResponseWriter
	name    string        // what follows a route's path, decoded
	timeout time.Duration // in which the caller wants an answer
}

// An endpoint answers a request with what becomes the JSON of its answer, or
// with the error that becomes a refusal.
type endpoint func(r *request) (any, error)

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answer(w, r)
	switch {
	case err != nil:
		refuse(w, err)
	case answer != nil:
		write(w, http.StatusOK, answer)
	}
}

// answer returns the answer, or nil if it has been written.
func (s *server) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := s.admit(r); err != nil {
		return nil, err
	}
	route, name, err := s.find(r)
	if err != nil {
		return nil, err
	}
	timeout, err := timeoutOf(r)
	if err != nil {
		return nil, err
	}
	req := &request{Request: r, writer: w, name: name, timeout: timeout}
	if route.endpoint == nil {
		return nil, s.watch(req)
	}
	return route.endpoint(req)
}

// reading makes the error of a call that changes nothing definite.
func reading(err error) error {
	refusal := RefusalOf(err)
	if refusal.Code != CodeUnavailable {
		return err
	}
	return &tenure.UnavailableError{Key: refusal.Key, Reason: refusal.Reason}
}
