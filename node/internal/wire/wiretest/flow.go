package wiretest

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// flowBytes is how much one direction of a connection holds before a write
// blocks.
const flowBytes = 64 << 10

// A flow is one direction of a connection.
type flow struct {
	mu      sync.Mutex
	changed *sync.Cond
	buf     []byte
	held    bool // nothing comes out
	shut    bool // the writer closed
	gone    bool // the reader closed
	read    deadline
	write   deadline
}

// A deadline ends the waits of one side of a flow.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func newFlow() *flow {
	f := &flow{}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// take moves bytes to p and blocks while there are none.
func (f *flow) take(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case f.gone:
			return 0, net.ErrClosed
		case f.read.passed():
			return 0, os.ErrDeadlineExceeded
		case !f.held && len(f.buf) > 0:
			n := copy(p, f.buf)
			f.buf = append(f.buf[:0], f.buf[n:]...)
			f.changed.Broadcast()
			return n, nil
		case !f.held && f.shut:
			return 0, io.EOF
		}
		f.changed.Wait()
	}
}

// put moves p's bytes in, and blocks while the flow is full.
func (f *flow) put(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	done := 0
	for {
		switch {
		case f.shut:
			return done, net.ErrClosed
		case f.gone && !f.held: // else nobody has told us
			return done, syscall.EPIPE
		case f.write.passed():
			return done, os.ErrDeadlineExceeded
		case done == len(p):
			return done, nil
		}
		if room := flowBytes - len(f.buf); room > 0 {
			n := min(room, len(p)-done)
			f.buf = append(f.buf, p[done:done+n]...)
			done += n
			f.changed.Broadcast()
			continue
		}
		f.changed.Wait()
	}
}

// set changes the flow under its lock and wakes who waits on it.
func (f *flow) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	f.changed.Broadcast()
}

// limit sets d, one of the flow's two deadlines.
func (f *flow) limit(d *deadline, at time.Time) {
	f.set(func() {
		if d.timer != nil {
			d.timer.Stop()
		}
		d.at, d.timer = at, nil
		if !at.IsZero() && time.Until(at) > 0 {
			d.timer = time.AfterFunc(time.Until(at), f.changed.Broadcast)
		}
	})
}
