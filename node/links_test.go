package node

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/tenure/node/internal/wire"
)

// A blackHole answers no dial.
type blackHole struct{ dials int }

func (*blackHole) Listen(string) (net.Listener, error) { return nil, net.ErrClosed }

func (h *blackHole) Dial(ctx context.Context, _ string) (net.Conn, error) {
	h.dials++
	<-ctx.Done()
	return nil, ctx.Err()
}

func noHello() wire.Hello { return wire.Hello{} }

// Those who wait while a dial fails share its failure, instead of dialling the
// dead address one after the other.
func TestWaitersShareAFailedDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hole := &blackHole{}
		ls := newLinks(hole, noHello)
		defer ls.close()
		start := time.Now()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, _, err := ls.get(context.Background(), "a:1"); err == nil {
					t.Error("a black hole answered")
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took != dialTimeout || hole.dials != 1 {
			t.Errorf("%d dials took %v, want one of %v", hole.dials, took, dialTimeout)
		}
		if len(ls.byAddr) != 0 {
			t.Errorf("%d links are kept of an address at which nobody answers", len(ls.byAddr))
		}
	})
}

// Closing ends dials at once, whatever their callers' contexts say.
func TestCloseEndsDials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ls := newLinks(&blackHole{}, noHello)
		start := time.Now()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { _, _, _ = ls.get(context.Background(), "a:1") })
		}
		synctest.Wait()
		ls.close()
		wg.Wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("closing took %v", took)
		}
		if _, _, err := ls.get(context.Background(), "a:1"); !errors.Is(err, wire.ErrClosed) {
			t.Errorf("after close: %v", err)
		}
	})
}

// A caller whose link has left while it waited for its turn gets another one:
// no connection is made that closing would not find.
func TestLinkThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hole := &blackHole{}
		ls := newLinks(hole, noHello)
		defer ls.close()
		l, err := ls.at("a:1")
		if err != nil {
			t.Fatal(err)
		}
		l.turn <- struct{}{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = ls.get(context.Background(), "a:1")
		}()
		synctest.Wait()
		ls.leave(l, "a:1")
		<-l.turn
		synctest.Wait()
		ls.mu.Lock()
		again := ls.byAddr["a:1"]
		ls.mu.Unlock()
		if again == nil || again == l || len(again.turn) != 1 || hole.dials != 1 {
			t.Errorf("the caller dials %d times over %p, of which %p has left", hole.dials, again, l)
		}
		<-done
	})
}
