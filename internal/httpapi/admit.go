package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// admit refuses what a page in a browser sends; see the package's comment.
func (s *server) admit(r *http.Request) error {
	if origin := r.Header.Get("Origin"); origin != "" {
		return refusedWith(http.StatusForbidden, "Origin header", strconv.Quote(origin), "left out: the API is for programs, not for pages in a browser")
	}
	if onLoopback(r) && !s.knows(r.Host) {
		return refusedWith(http.StatusForbidden, "Host header", strconv.Quote(r.Host), "an IP address, localhost, or the advertised name, over a loopback connection")
	}
	return nil
}

// onLoopback reports whether the connection arrived at a loopback address.
func onLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}

// knows reports whether a Host header can't be the name of somebody else's
// site.
func (s *server) knows(host string) bool {
	name := host
	if n, _, err := net.SplitHostPort(host); err == nil {
		name = n
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if _, err := netip.ParseAddr(name); err == nil || !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost") {
		return true
	}
	return slices.ContainsFunc(s.hosts, func(known string) bool { return strings.EqualFold(known, name) })
}
