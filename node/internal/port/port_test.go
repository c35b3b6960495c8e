package port

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/tenure/node/internal/wire"
	"example.com/tenure/node/internal/wire/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handlerFunc is a wire.Handler.
type handlerFunc func(*wire.Request)

func (f handlerFunc) Handle(r *wire.Request) { f(r) }

// echo serves an API connection that answers every request with its payload.
func echo(conn net.Conn, _ wire.Hello) {
	_ = wire.Serve(context.Background(), conn, wire.Config{}, handlerFunc(func(r *wire.Request) { r.Reply(r.Payload) }))
}

// hello returns the hello of a founded node.
func hello(id string) wire.Hello {
	return wire.Hello{ClusterID: "c1", NodeID: id, Incarnation: "i-" + id, EntryVersion: 1}
}

func self(id string) func() wire.Hello { return func() wire.Hello { return hello(id) } }

// open opens a port that is closed at the end of the test.
func open(t *testing.T, config Config) *Port {
	t.Helper()
	if config.Serve == nil {
		config.Serve = echo
	}
	p, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// greeted dials a port and exchanges hellos.
func greeted(network Network, addr string, h wire.Hello) (net.Conn, wire.Hello, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	nc, err := network.Dial(ctx, addr)
	if err != nil {
		return nil, wire.Hello{}, err
	}
	peer, err := wire.Greet(ctx, nc, h)
	if err != nil {
		_ = nc.Close()
	}
	return nc, peer, err
}

// call makes a call over a fresh connection.
func call(t *testing.T, network Network, addr string) {
	t.Helper()
	nc, _, err := greeted(network, addr, wire.Hello{Purpose: wire.PurposeAPI})
	if err != nil {
		t.Fatal(err)
	}
	c := wire.NewConn(nc, wire.Config{})
	defer c.Close()
	if answer, err := c.Call(context.Background(), 1, 0, []byte("hi")); string(answer) != "hi" || err != nil {
		t.Fatalf("got %q, %v", answer, err)
	}
}

// serveHTTP runs an HTTP server on the port until the end of the test.
func serveHTTP(t *testing.T, p *Port) {
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "over HTTP")
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(p.HTTP()) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
}

func get(t *testing.T, network Network, addr string) string {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return network.Dial(ctx, addr) }}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("http://node/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp.Status + " " + string(body)
}

// The API and HTTP share a port, over real TCP and in memory.
func TestOnePort(t *testing.T) {
	memory := wiretest.NewNet()
	for name, network := range map[string]Network{"127.0.0.1:0": TCP(), "n1:7400": memory.Host("n1")} {
		p := open(t, Config{Network: network, Listen: name, Self: self("n1")})
		serveHTTP(t, p)
		call(t, network, p.Advertised())
		if got := get(t, network, p.Advertised()); got != "200 OK over HTTP" {
			t.Errorf("got %q", got)
		}
		call(t, network, p.Advertised())
	}
}

// An HTTP server can end its half of a connection and read on.
func TestCloseWrite(t *testing.T) {
	p := open(t, Config{Network: TCP(), Listen: "127.0.0.1:0", Self: self("n1")})
	nc, err := TCP().Dial(context.Background(), p.Advertised())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_, _ = io.WriteString(nc, "G")
	web, err := p.HTTP().Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	if err := web.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(nc); len(got) > 0 || err != nil {
		t.Fatalf("the client read %q, %v", got, err)
	}
	_, _ = io.WriteString(nc, "ET")
	if got := make([]byte, 3); readFull(web, got) != nil || string(got) != "GET" {
		t.Errorf("the server read %q", got)
	}
}

func readFull(from io.Reader, p []byte) error {
	_, err := io.ReadFull(from, p)
	return err
}

// The peer's hello reaches Serve, and the port's own says its advertised
// address.
func TestHellos(t *testing.T) {
	peers := make(chan wire.Hello, 1)
	network := wiretest.NewNet().Host("n1")
	open(t, Config{Network: network, Listen: "n1:7400", Advertise: "other:1", Self: self("n1"), Serve: func(_ net.Conn, peer wire.Hello) { peers <- peer }})
	from := hello("n2")
	from.Purpose, from.Addr = wire.PurposeAPI, "n2:7400"
	nc, answer, err := greeted(network, "n1:7400", from)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if answer.Addr != "other:1" || answer.NodeID != "n1" {
		t.Errorf("answer %+v", answer)
	}
	if peer := <-peers; peer.NodeID != "n2" || peer.Addr != "n2:7400" {
		t.Errorf("peer %+v", peer)
	}
}

// Whoever says nothing, or too little, is closed in time, and keeps nobody
// waiting: not even when there are more of them than greetings may run.
func TestSilentClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := wiretest.NewNet().Host("n1")
		p := open(t, Config{Network: network, Listen: "n1:7400", Self: self("n1"), MaxGreetings: 4, GreetingTime: time.Second})
		serveHTTP(t, p)
		var silent []net.Conn
		for i := range 10 {
			nc, err := network.Dial(context.Background(), "n1:7400")
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			_, _ = io.WriteString(nc, wire.Magic[:i%3])
			silent = append(silent, nc)
			synctest.Wait()
		}
		started := time.Now()
		if _, err := io.Copy(io.Discard, silent[5]); err != nil || time.Since(started) > 0 {
			t.Errorf("the oldest made room after %v, %v", time.Since(started), err)
		}
		call(t, network, "n1:7400")
		if got := get(t, network, "n1:7400"); got != "200 OK over HTTP" {
			t.Errorf("got %q", got)
		}
		if waited := time.Since(started); waited > 0 {
			t.Errorf("had to wait for %v", waited)
		}
		for _, nc := range silent {
			if _, err := io.Copy(io.Discard, nc); err != nil {
				t.Error(err)
			}
		}
		if after := time.Since(started); after > time.Second {
			t.Errorf("closed after %v", after)
		}
	})
}

// What begins like nothing that is known is closed at once, TLS included.
func TestGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := wiretest.NewNet().Host("n1")
		open(t, Config{Network: network, Listen: "n1:7400", Self: self("n1")})
		for _, garbage := range []string{"\x16\x03\x01", "\x00", "get / HTTP/1.1\r\n", "\xff\xff", wire.Magic + "\xff\xff"} {
			nc, err := network.Dial(context.Background(), "n1:7400")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(nc, garbage)
			started := time.Now()
			if got, _ := io.ReadAll(nc); len(got) > 0 || time.Since(started) > 0 {
				t.Errorf("%q: read %q after %v", garbage, got, time.Since(started))
			}
			_ = nc.Close()
		}
	})
}

// Peers that don't belong here are told why.
func TestRefusedPeers(t *testing.T) {
	network := wiretest.NewNet().Host("n1")
	open(t, Config{Network: network, Listen: "n1:7400", Self: self("n1"), MaxClients: 1, Judge: func(peer wire.Hello) *wire.Refused {
		if peer.NodeID == "n9" {
			return &wire.Refused{Code: wire.CodeRemoved, Message: "n9 was removed", Peer: peer}
		}
		return nil
	}})
	raftHello := hello("n2")
	raftHello.Purpose, raftHello.Addr = wire.PurposeRaft, "n2:7400"
	first, _, err := greeted(network, "n1:7400", wire.Hello{Purpose: wire.PurposeAPI})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	tests := map[string]struct {
		hello wire.Hello
		code  wire.Code
	}{
		"other cluster":    {wire.Hello{Purpose: wire.PurposeAPI, ClusterID: "c9"}, wire.CodeOtherCluster},
		"other node":       {wire.Hello{Purpose: wire.PurposeAPI, ExpectID: "n3"}, wire.CodeOtherNode},
		"judged":           {wire.Hello{Purpose: wire.PurposeAPI, NodeID: "n9", Incarnation: "x"}, wire.CodeRemoved},
		"raft too early":   {raftHello, wire.CodeNotMember},
		"one too many":     {wire.Hello{Purpose: wire.PurposeAPI}, wire.CodeBusy},
		"nodes aren't":     {wire.Hello{Purpose: wire.PurposeAPI, NodeID: "n2", Incarnation: "x"}, wire.CodeOK},
		"no known purpose": {wire.Hello{Purpose: 9}, wire.CodePurpose},
	}
	for name, test := range tests {
		nc, _, err := greeted(network, "n1:7400", test.hello)
		var refused *wire.Refused
		if test.code == wire.CodeOK && err == nil {
			_ = nc.Close()
			continue
		}
		if !errors.As(err, &refused) || refused.Code != test.code || !refused.ByPeer {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if got := get(t, network, "n1:7400"); !strings.HasPrefix(got, "503") {
		t.Errorf("one HTTP client too many: got %q", got)
	}
	_ = first.Close()
	for { // its place is free as soon as the port has noticed
		nc, _, err := greeted(network, "n1:7400", wire.Hello{Purpose: wire.PurposeAPI})
		if err == nil {
			_ = nc.Close()
			break
		}
		var refused *wire.Refused
		if !errors.As(err, &refused) || refused.Code != wire.CodeBusy {
			t.Fatal(err)
		}
	}
}

// Close ends the connections of all kinds, and the address is free again.
func TestClose(t *testing.T) {
	p := open(t, Config{Network: TCP(), Listen: "127.0.0.1:0", Self: self("n1")})
	serveHTTP(t, p)
	silent, err := TCP().Dial(context.Background(), p.Advertised())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	api, _, err := greeted(TCP(), p.Advertised(), wire.Hello{Purpose: wire.PurposeAPI})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	web, err := TCP().Dial(context.Background(), p.Advertised())
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	_, _ = io.WriteString(web, "GET / HTTP/1.1\r\nHost: n1\r\n\r\n")
	if _, err := web.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for name, nc := range map[string]net.Conn{"silent": silent, "api": api, "web": web} {
		if err := nc.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		var timeout net.Error
		if _, err := io.Copy(io.Discard, nc); errors.As(err, &timeout) && timeout.Timeout() {
			t.Errorf("%s: still open", name)
		}
	}
	again := open(t, Config{Network: TCP(), Listen: p.Advertised(), Self: self("n1")})
	call(t, TCP(), again.Advertised())
}

// A busy address is an error that names it.
func TestBusyAddress(t *testing.T) {
	p := open(t, Config{Network: TCP(), Listen: "127.0.0.1:0", Self: self("n1")})
	_, err := Open(Config{Network: TCP(), Listen: p.Advertised(), Self: self("n1"), Serve: echo})
	if err == nil || !strings.Contains(err.Error(), p.Advertised()) || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("got %v", err)
	}
}

// flaky is a network whose listeners fail a few times.
type flaky struct {
	Network
	failures int
}

func (f *flaky) Listen(addr string) (net.Listener, error) {
	l, err := f.Network.Listen(addr)
	return &flakyListener{l, f}, err
}

type flakyListener struct {
	net.Listener
	of *flaky
}

func (l *flakyListener) Accept() (net.Conn, error) {
	if l.of.failures--; l.of.failures >= 0 {
		return nil, errors.New("too many open files")
	}
	return l.Listener.Accept()
}

// A listener that fails for a while is tried again, and not in a tight loop.
func TestAcceptFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := wiretest.NewNet().Host("n1")
		open(t, Config{Network: &flaky{network, 10}, Listen: "n1:7400", Self: self("n1")})
		started := time.Now()
		call(t, network, "n1:7400")
		if got := time.Since(started); got < time.Second || got > 5*time.Second {
			t.Errorf("served after %v", got)
		}
	})
}
