package relay

import (
	"net"
	"testing"
	"time"
)

// A probe of a plain connection notices that no fault strikes it, whatever is
// supposed to; and one that gets nothing says so.
func TestProbeDisagrees(t *testing.T) {
	for name, s := range map[string]state{
		"a cut":        {cuts: 1},
		"half open":    {halfOpen: 1},
		"a delay":      {delay: 100 * time.Millisecond},
		"a long delay": {delay: time.Minute},
		"a slow link":  {rates: []int64{10}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := wire(t)
			if err := s.agrees(a, b); err == nil {
				t.Error("a link without any fault passes for one")
			}
		})
	}
	a, b := wire(t)
	if err := (&state{}).agrees(a, b); err != nil {
		t.Errorf("a link without any fault: %v", err)
	}
	a, b = wire(t)
	reset(b)
	if err := (&state{}).agrees(a, b); err == nil {
		t.Error("a broken link passes for one without any fault")
	}
}

// wire returns both ends of a connection without a relay.
func wire(t *testing.T) (a, b *net.TCPConn) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err = dial(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err = l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}
