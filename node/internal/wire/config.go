package wire

import "time"

// Bounds of the protocol. Both ends keep them.
const (
	MaxRequest = 8<<20 + 64<<10 // bytes of a request's payload
	MaxAnswer  = 64 << 20       // bytes of an answer's payload
)

// A Config sets a connection's limits. The zero value is ready to use. Both
// ends must be given the same limits, or a caller that keeps its own may still
// be cut off.
type Config struct {
	// PingInterval is how long a connection may be silent before this end
	// asks for a sign of life; 0 is one second.
	PingInterval time.Duration
	// PingTimeout is how long it may be silent before it counts as broken,
	// give or take a PingInterval; 0 is five seconds. It is counted in pings,
	// so that a process which was itself stopped blames nobody for that time.
	PingTimeout time.Duration
	// MaxInFlight is the most calls without an answer; 0 is 65536. The caller
	// keeps it, the serving end cuts off who doesn't.
	MaxInFlight int
	// MaxInFlightBytes is the most that their payloads may have together;
	// 0 is 64 MiB.
	MaxInFlightBytes int
	// MaxQueued is how many bytes may wait for the other end to read them;
	// 0 is 128 MiB. A caller is refused above it, and a peer that lets its
	// answers grow beyond it is cut off.
	MaxQueued int
}

func (c Config) withDefaults() Config {
	if c.PingInterval <= 0 {
		c.PingInterval = time.Second
	}
	if c.PingTimeout <= 0 {
		c.PingTimeout = 5 * time.Second
	}
	if c.MaxInFlight <= 0 {
		c.MaxInFlight = 1 << 16
	}
	if c.MaxInFlightBytes <= 0 {
		c.MaxInFlightBytes = 64 << 20
	}
	if c.MaxQueued <= 0 {
		c.MaxQueued = 2 * MaxAnswer
	}
	return c
}
