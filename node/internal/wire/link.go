package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A link is what both ends of a connection have: the queue of outgoing frames
// and the goroutine that writes it, the signs of life, and the end.
type link struct {
	conn   net.Conn
	config Config
	wake   chan struct{} // tells the writer that the queue is no longer empty
	ended  chan struct{}

	mu sync.Mutex
	// queue holds the frames that the writer has not taken. Whatever is in it
	// has surely not left.
	queue []byte
	taken uint64 // bytes that the writer took before what is in queue
	err   error  // why the link ended, or nil
	last  bool   // the writer ends once the queue is empty

	heard  atomic.Bool // something came since the last beat
	silent int         // beats in a row that heard nothing; the beat's own
	beat   *time.Timer
}

func (l *link) open(conn net.Conn, config Config) {
	l.conn = conn
	l.config = config.withDefaults()
	l.wake = make(chan struct{}, 1)
	l.ended = make(chan struct{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beat = time.AfterFunc(l.config.PingInterval, l.onBeat)
}

// put queues a frame. It is called with the lock held; the caller wakes the
// writer after unlocking if put says so. It never blocks.
func (l *link) put(f frame) (wake bool) {
	wake = len(l.queue) == 0
	l.queue = appendFrame(l.queue, f)
	return wake
}

func (l *link) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// send queues a frame without an answer of its own. A link whose queue is full
// has a peer that doesn't read, and ends.
func (l *link) send(f frame) {
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	full := len(l.queue) > l.config.MaxQueued
	wake := !full && l.put(f)
	l.mu.Unlock()
	if full {
		l.end(fmt.Errorf("%w: %d bytes wait to be read by the other end", ErrOverload, l.config.MaxQueued))
	}
	if wake {
		l.wakeWriter()
	}
}

// write runs the writer. It takes all that is queued at once, which is what
// makes many concurrent callers cheap.
func (l *link) write() {
	var spare []byte
	for {
		select {
		case <-l.wake:
		case <-l.ended:
			return
		}
		runtime.Gosched() // let those who are about to queue do so
		batch, last := l.take(spare)
		if len(batch) > 0 {
			if _, err := l.conn.Write(batch); err != nil {
				l.end(err)
				return
			}
		}
		if last {
			return
		}
		spare = batch
		if cap(spare) > 1<<20 {
			spare = nil // a burst must not keep its memory for ever
		}
	}
}

// take empties the queue, and leaves spare as the next one. It takes nothing
// once the link has ended: what was judged as not sent then must not leave.
func (l *link) take(spare []byte) (batch []byte, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, true
	}
	batch, l.queue = l.queue, spare[:0]
	l.taken += uint64(len(batch))
	return batch, l.last
}

// finish makes the writer end after what is queued now.
func (l *link) finish() {
	l.mu.Lock()
	l.last = true
	l.mu.Unlock()
	l.wakeWriter()
}

// sign notes that something came from the other end.
func (l *link) sign() { l.heard.Store(true) }

// onBeat runs once a PingInterval.
func (l *link) onBeat() {
	if l.heard.Swap(false) {
		l.silent = 0
	} else {
		l.silent++
		if time.Duration(l.silent-1)*l.config.PingInterval >= l.config.PingTimeout {
			l.end(fmt.Errorf("%w for %v", ErrSilent, l.config.PingTimeout))
			return
		}
		l.send(frame{kind: kindPing})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.beat.Reset(l.config.PingInterval)
	}
}

// end ends the link for a reason, of which the first one counts. It doesn't
// wait for the goroutines.
func (l *link) end(reason error) {
	if errors.Is(reason, io.EOF) {
		reason = fmt.Errorf("the other end closed the connection: %w", reason)
	}
	l.mu.Lock()
	first := l.err == nil
	if first {
		l.err = reason
		l.beat.Stop()
		close(l.ended)
	}
	l.mu.Unlock()
	if first {
		_ = l.conn.Close() // nothing more is expected of it
	}
}

// reason returns why the link ended, or nil.
func (l *link) reason() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
