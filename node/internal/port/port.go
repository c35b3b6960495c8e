package port

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure/node/internal/wire"
)

// A Config describes a port. Network, Listen, Self and Serve are required.
type Config struct {
	Network Network
	Listen  string // address to listen on
	// Advertise is the address at which others reach the port; "" is the one
	// that it listens on.
	Advertise string

	// Self says who this node is now. The port fills in Addr and Purpose. It
	// is called for each connection, from many goroutines, and must not block.
	Self func() wire.Hello
	// Judge says why a peer or client is refused for reasons that only the
	// node knows, or nil; what [wire.Check] finds is refused already. A member
	// may know less than its peer does: a stream of Raft's should be refused
	// only for what is certain, as that the peer was removed. Nil lets all in.
	// It is called from many goroutines and must not block.
	Judge func(peer wire.Hello) *wire.Refused
	// Serve serves an API connection whose hellos have been exchanged, and
	// returns when that has ended. The port closes the connection then, or
	// earlier to make Serve return.
	Serve func(conn net.Conn, peer wire.Hello)
	// Logger is told of refused peers; nil is nowhere.
	Logger hclog.Logger

	// GreetingTime is how long a connection may take to say what it is for;
	// 0 is five seconds.
	GreetingTime time.Duration
	// MaxGreetings is how many may be doing so at a time, before the oldest
	// has to make room; 0 is 256.
	MaxGreetings int
	// MaxClients is how many connections of clients, over the framed protocol
	// and HTTP, there may be at a time; 0 is 16384. Nodes don't count.
	MaxClients int
}

func (c Config) withDefaults() Config {
	if c.Judge == nil {
		c.Judge = func(wire.Hello) *wire.Refused { return nil }
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.GreetingTime <= 0 {
		c.GreetingTime = 5 * time.Second
	}
	if c.MaxGreetings <= 0 {
		c.MaxGreetings = 256
	}
	if c.MaxClients <= 0 {
		c.MaxClients = 1 << 14
	}
	return c
}

// A Port is a node's one listening port. It can be used concurrently.
type Port struct {
	config    Config
	listener  net.Listener
	advertise address
	web       *handover
	streams   atomic.Pointer[streams] // of the present Transport, or nil

	conns     conns
	greetings greetings
	once      sync.Once
	closed    chan struct{}
	running   sync.WaitGroup
}

// An address is a net.Addr that is just its text.
type address string

// Network is net.Addr's.
func (address) Network() string { return "tenure" }

// String is net.Addr's.
func (a address) String() string { return string(a) }

// Open listens and starts to accept connections. The caller must call Close.
func Open(config Config) (*Port, error) {
	config = config.withDefaults()
	listener, err := config.Network.Listen(config.Listen)
	if err != nil {
		return nil, err
	}
	p := &Port{
		config:    config,
		listener:  listener,
		advertise: address(config.Advertise),
		closed:    make(chan struct{}),
		greetings: greetings{most: config.MaxGreetings},
	}
	if p.advertise == "" {
		p.advertise = address(listener.Addr().String())
	}
	p.web = newHandover(p.advertise)
	p.running.Go(p.accept)
	return p, nil
}

// Advertised returns the address at which others reach the port.
func (p *Port) Advertised() string { return string(p.advertise) }

// HTTP returns a listener that yields the connections which speak HTTP. Closing
// it refuses later ones and closes none; an http.Server closes its own.
func (p *Port) HTTP() net.Listener { return p.web }

// Close stops listening, closes all connections of the port, those of its
// Transport too, and waits until nothing runs on them any more. It is safe to
// call again. The error is that of closing the listener.
func (p *Port) Close() error {
	var err error
	p.once.Do(func() {
		close(p.closed)
		err = p.listener.Close()
		_ = p.web.Close()
		if s := p.streams.Load(); s != nil {
			_ = s.Close()
		}
		p.conns.closeAll()
	})
	p.running.Wait()
	return err
}

// self returns this node's hello for a purpose.
func (p *Port) self(purpose wire.Purpose) wire.Hello {
	h := p.config.Self()
	h.Purpose, h.Addr = purpose, p.Advertised()
	return h
}
