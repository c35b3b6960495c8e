package leader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure"
	"example.com/tenure/fsm"
	"example.com/tenure/node/internal/machine"
	"example.com/tenure/node/internal/watch"
)

// A bench is a leader over a log that commits at once, or when the test says.
type bench struct {
	t       testing.TB
	machine *machine.Machine
	s       *Sequencer
	stop    context.CancelFunc
	ended   chan struct{}

	mu      sync.Mutex
	index   uint64
	entries [][]fsm.Command    // all that were proposed
	hold    chan struct{}      // if set, entries commit when it is closed
	refuse  func() *Outcome    // if set, decides an entry's outcome
	between func(index uint64) // if set, is called before an entry is applied
}

func newBench(t testing.TB) *bench {
	b := &bench{t: t, ended: make(chan struct{})}
	ring := watch.NewRing(watch.DefaultSize)
	t.Cleanup(ring.Close)
	clock := tenure.MonotonicClock()
	b.machine = machine.New(machine.Config{
		Clock:    clock,
		StoredAt: func(uint64, uint64) (time.Duration, bool) { return 0, false },
		Fail:     func(err error) { t.Errorf("the machine failed: %v", err) },
		Ring:     ring,
	})
	b.machine.Lead(true)
	b.s = New(Config{
		Machine:  b.machine,
		Clock:    clock,
		Propose:  b.propose,
		Stalled:  func() bool { return false },
		Founding: fsm.Settings{ClusterID: "c1", LargestTTL: time.Hour},
		Fail:     func(err error) { t.Errorf("the leader failed: %v", err) },
	})
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	go func() {
		defer close(b.ended)
		b.s.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-b.ended })
	return b
}

func (b *bench) propose(data []byte) <-chan Outcome {
	out := make(chan Outcome, 1)
	b.mu.Lock()
	hold, refuse := b.hold, b.refuse
	b.mu.Unlock()
	go func() {
		if hold != nil {
			<-hold
		}
		if refuse != nil {
			if o := refuse(); o != nil {
				out <- *o
				return
			}
		}
		applied, ok := b.apply(data)
		if !ok {
			out <- Outcome{Err: errors.New("not applied"), MaybeApplied: true, Over: true}
			return
		}
		out <- Outcome{Applied: applied}
	}()
	return out
}

func (b *bench) apply(data []byte) (*machine.Applied, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.index++
	if commands, err := fsm.DecodeEntry(data); err == nil {
		b.entries = append(b.entries, commands)
	}
	if b.between != nil {
		b.between(b.index)
	}
	applied, ok := b.machine.Apply(&raft.Log{Index: b.index, Term: 1, Type: raft.LogCommand, Data: data}).(*machine.Applied)
	return applied, ok
}

// submit returns a channel with the results.
func (b *bench) submit(req *Request) <-chan []tenure.Result {
	done := make(chan []tenure.Result, 1)
	req.Done = func(r *Request) { done <- r.Results }
	if err := b.s.Submit(req); err != nil {
		results := make([]tenure.Result, len(req.Commands))
		for i := range results {
			results[i].Err = err
		}
		done <- results
	}
	return done
}

func acquire(key, owner, id string, ttl, wait time.Duration) *Request {
	return &Request{Commands: []fsm.Command{{Kind: fsm.Acquire, Key: key, Owner: owner, RequestID: id, TTL: ttl}}, Waits: []time.Duration{wait}}
}

func release(key, owner string, epoch uint64) *Request {
	return &Request{Commands: []fsm.Command{{Kind: fsm.Release, Key: key, Owner: owner, Epoch: epoch}}}
}

func renew(key, owner string, epoch uint64, ttl time.Duration) *Request {
	return &Request{Commands: []fsm.Command{{Kind: fsm.Renew, Key: key, Owner: owner, Epoch: epoch, TTL: ttl}}}
}

// must returns the only grant of a request.
func (b *bench) must(req *Request) tenure.Grant {
	b.t.Helper()
	result := (<-b.submit(req))[0]
	if result.Err != nil {
		b.t.Fatalf("%+v: %v", req.Commands[0], result.Err)
	}
	return result.Grant
}

func (b *bench) proposed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.entries)
}

func TestReleaseHandsOverInItsEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Minute, 0))
		waiting := b.submit(acquire("k", "b", "1", time.Minute, time.Hour))
		synctest.Wait()
		before := b.proposed()
		b.must(release("k", "a", g.Record.Epoch))
		got := (<-waiting)[0]
		if got.Err != nil || got.Grant.Record.Epoch != g.Record.Epoch+1 {
			t.Fatalf("the waiter got %+v", got)
		}
		if n := b.proposed() - before; n != 1 {
			t.Errorf("the hand-over took %d entries, want 1 with the release and the grant", n)
		}
	})
}

// A release of a tenure that is over frees nothing: who waits behind the tenure
// that stands waits on, and in front.
func TestReleaseOfAnotherTenureHandsNothingOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		old := b.must(acquire("k", "a", "1", time.Minute, 0))
		b.must(release("k", "a", old.Record.Epoch))
		g := b.must(acquire("k", "c", "1", 10*time.Second, 0))
		start := time.Now()
		waiting := b.submit(acquire("k", "b", "1", time.Minute, time.Hour))
		behind := b.submit(acquire("k", "d", "1", time.Minute, time.Hour))
		synctest.Wait()
		if got := (<-b.submit(release("k", "a", old.Record.Epoch)))[0]; !errors.Is(got.Err, tenure.ErrLost) {
			t.Fatalf("the release of a tenure that is over: %+v, want lost", got)
		}
		got := (<-waiting)[0]
		if got.Err != nil || got.Grant.Record.Epoch != g.Record.Epoch+1 || time.Since(start) != 10*time.Second {
			t.Errorf("the waiter got %+v after %v, want the key after the TTL of 10s", got, time.Since(start))
		}
		b.must(release("k", "b", got.Grant.Record.Epoch))
		if got := (<-behind)[0]; got.Err != nil {
			t.Errorf("the one behind got %+v", got)
		}
	})
}

// A release that also forgets is in one entry, however many there are: it is
// applied as a whole or not at all.
func TestReleasesThatForgetAreNotCutApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		const tenures = 7000 // with a forget and a release each, more than an entry takes
		all := &Request{Waits: make([]time.Duration, tenures+1)}
		for i := range tenures + 1 {
			all.Commands = append(all.Commands, fsm.Command{Kind: fsm.Acquire, Key: fmt.Sprint(i), Owner: "o", RequestID: "1", TTL: time.Minute})
		}
		req := &Request{}
		for i, r := range <-b.submit(all) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			c := fsm.Command{Kind: fsm.Forget, Key: r.Grant.Record.Key, Owner: "o", Epoch: r.Grant.Record.Epoch}
			if i > 0 { // the first is released only, so that the pairs lie across even numbers
				req.Commands = append(req.Commands, c)
			}
			c.Kind = fsm.Release
			req.Commands = append(req.Commands, c)
		}
		before := b.proposed()
		for _, r := range <-b.submit(req) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, commands := range b.entries[before:] {
			if last := commands[len(commands)-1]; last.Kind == fsm.Forget {
				t.Errorf("an entry of %d commands ends with the forget of a release that is in the next", len(commands))
			}
		}
		if n := len(b.entries) - before; n < 2 {
			t.Errorf("%d entries, too few to tell", n)
		}
	})
}

func TestExpiryHandsOverByTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.must(acquire("k", "a", "1", 10*time.Second, 0))
		start := time.Now()
		got := (<-b.submit(acquire("k", "b", "1", time.Second, time.Hour)))[0]
		if waited := time.Since(start); got.Err != nil || waited != 10*time.Second {
			t.Errorf("granted after %v: %+v, want after the TTL of 10s", waited, got)
		}
	})
}

// The second in line must not wait for the expiry of a tenure that is over
// already: the head's own TTL is shorter.
func TestEachTenureOfALineExpiresOnItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Minute, 0))
		first := b.submit(acquire("k", "b", "1", time.Second, time.Hour))
		second := b.submit(acquire("k", "c", "1", time.Second, time.Hour))
		synctest.Wait()
		b.must(release("k", "a", g.Record.Epoch))
		<-first
		start := time.Now()
		if got := (<-second)[0]; got.Err != nil || time.Since(start) != time.Second {
			t.Errorf("granted after %v: %+v, want after the head's TTL of 1s", time.Since(start), got)
		}
	})
}

func TestRenewalsKeepTheLineWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Second, 0))
		waiting := b.submit(acquire("k", "b", "1", time.Second, 5*time.Second))
		for range 20 {
			time.Sleep(500 * time.Millisecond)
			b.must(renew("k", "a", g.Record.Epoch, time.Second))
		}
		got := (<-waiting)[0]
		var held *tenure.HeldError
		if !errors.As(got.Err, &held) || held.Record.Owner != "a" || held.Remaining <= 0 {
			t.Errorf("the waiter got %+v, want held by a with time left", got)
		}
	})
}

func TestLineIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "holder", "1", time.Minute, 0))
		var order []string
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 20 {
			owner := fmt.Sprintf("w%02d", i)
			wait := b.submit(acquire("k", owner, "1", time.Minute, time.Hour))
			synctest.Wait()
			wg.Go(func() {
				got := (<-wait)[0]
				mu.Lock()
				order = append(order, owner)
				mu.Unlock()
				b.must(release("k", owner, got.Grant.Record.Epoch))
			})
		}
		if refused := (<-b.submit(acquire("k", "pusher", "1", time.Minute, 0)))[0]; !errors.Is(refused.Err, tenure.ErrHeld) {
			t.Errorf("an acquire that doesn't wait got %+v, want held: there is a line", refused)
		}
		b.must(release("k", "holder", g.Record.Epoch))
		wg.Wait()
		for i, owner := range order {
			if owner != fmt.Sprintf("w%02d", i) {
				t.Fatalf("order %v", order)
			}
		}
		if n := b.s.Waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}

func TestCancelledWaiterLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Minute, 0))
		gone := acquire("k", "b", "1", time.Minute, time.Hour)
		b.submit(gone)
		next := b.submit(acquire("k", "c", "1", time.Minute, time.Hour))
		synctest.Wait()
		results := b.s.End(gone, context.Canceled)
		var u *tenure.UnavailableError
		if !errors.As(results[0].Err, &u) || u.MaybeApplied {
			t.Errorf("the cancelled waiter got %+v, want unavailable and not applied", results[0])
		}
		if n := b.s.Waiting(); n != 1 {
			t.Errorf("%d wait, want 1", n)
		}
		b.must(release("k", "a", g.Record.Epoch))
		if got := (<-next)[0]; got.Err != nil || got.Grant.Record.Owner != "c" {
			t.Errorf("the next in line got %+v", got)
		}
	})
}

// A retry under the same id joins its place; one whose command made the tenure
// is answered from an entry of its own.
func TestSameRequestHasOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Minute, 0))
		first := b.submit(acquire("k", "b", "1", time.Minute, time.Hour))
		retry := b.submit(acquire("k", "b", "1", time.Minute, time.Hour))
		synctest.Wait()
		if n := b.s.Waiting(); n != 1 {
			t.Fatalf("%d places, want 1", n)
		}
		b.must(release("k", "a", g.Record.Epoch))
		one, two := (<-first)[0].Grant, (<-retry)[0].Grant
		if one != two {
			t.Errorf("the place gave %+v and %+v", one, two)
		}
		late := b.must(acquire("k", "b", "1", time.Minute, time.Hour))
		if late.Record.Epoch != one.Record.Epoch || late.Index <= one.Index {
			t.Errorf("a later retry got %+v, want epoch %d from a newer entry than %d", late, one.Record.Epoch, one.Index)
		}
	})
}

// A takeover that lost to a renewal, which got into the log first, leaves its
// waiter at the head.
func TestHeadThatLostToARenewalStaysTheHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Second, 0))
		wait := b.submit(acquire("k", "b", "1", time.Minute, time.Hour))
		behind := b.submit(acquire("k", "c", "1", time.Minute, time.Hour))
		synctest.Wait()
		stolen := false
		b.mu.Lock()
		b.between = func(uint64) {
			if stolen {
				return
			}
			stolen = true
			data, _ := fsm.AppendEntry(nil, []fsm.Command{{Kind: fsm.Renew, Key: "k", Owner: "a", Epoch: g.Record.Epoch, TTL: time.Second}})
			b.machine.Apply(&raft.Log{Index: b.index, Term: 1, Type: raft.LogCommand, Data: data})
			b.index++
		}
		b.mu.Unlock()
		start := time.Now()
		got := (<-wait)[0]
		if got.Err != nil || time.Since(start) != 2*time.Second {
			t.Errorf("granted after %v: %+v, want after both TTLs", time.Since(start), got)
		}
		select {
		case r := <-behind:
			t.Errorf("the second in line got %+v", r)
		default:
		}
	})
}

func TestEndOfLeadershipAnswersAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.must(acquire("k", "a", "1", time.Minute, 0))
		waiting := b.submit(acquire("k", "b", "1", time.Minute, time.Hour))
		synctest.Wait()
		b.mu.Lock()
		b.hold = make(chan struct{})
		b.mu.Unlock()
		inFlight := b.submit(acquire("x", "a", "1", time.Minute, 0))
		synctest.Wait()
		queued := b.submit(acquire("y", "a", "1", time.Minute, 0))
		synctest.Wait()
		b.stop()
		for name, want := range map[string]struct {
			got   <-chan []tenure.Result
			maybe bool
		}{"waiting": {waiting, false}, "in flight": {inFlight, true}, "queued": {queued, false}} {
			var u *tenure.UnavailableError
			if got := (<-want.got)[0]; !errors.As(got.Err, &u) || u.MaybeApplied != want.maybe {
				t.Errorf("%s: %+v, want unavailable with maybe applied %v", name, got, want.maybe)
			}
		}
		close(b.hold)
	})
}

// What Raft surely refused was not applied, and those in line keep their places.
func TestRefusedEntryKeepsTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Second, 0))
		waiting := b.submit(acquire("k", "b", "1", time.Minute, time.Hour))
		synctest.Wait()
		refusals := 0
		b.mu.Lock()
		b.refuse = func() *Outcome {
			if refusals++; refusals <= 5 {
				return &Outcome{Err: raft.ErrLeadershipTransferInProgress}
			}
			return nil
		}
		b.mu.Unlock()
		if got := (<-waiting)[0]; got.Err != nil || got.Grant.Record.Epoch != g.Record.Epoch+1 {
			t.Errorf("the waiter got %+v", got)
		}
		if refusals < 6 {
			t.Errorf("only %d entries were refused", refusals)
		}
	})
}

// A flood of acquires must not keep a renewal out of the next entry.
func TestRenewalsAreNotStarvedByAcquires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		g := b.must(acquire("k", "a", "1", time.Minute, 0))
		b.mu.Lock()
		b.hold = make(chan struct{})
		b.mu.Unlock()
		b.submit(&Request{}) // a read, whose entry is held
		synctest.Wait()
		flood := &Request{Done: func(*Request) {}}
		for i := range 3 * maxCommands {
			flood.Commands = append(flood.Commands, fsm.Command{Kind: fsm.Acquire, Key: fmt.Sprint("flood-", i), Owner: "f", RequestID: "1", TTL: time.Minute})
		}
		b.submit(flood)
		renewed := b.submit(renew("k", "a", g.Record.Epoch, time.Minute))
		synctest.Wait()
		before := b.proposed()
		b.mu.Lock()
		hold := b.hold
		b.hold = nil
		b.mu.Unlock()
		close(hold)
		<-renewed
		synctest.Wait()
		b.mu.Lock()
		defer b.mu.Unlock()
		n := slices.IndexFunc(b.entries[before:], func(e []fsm.Command) bool {
			return slices.ContainsFunc(e, func(c fsm.Command) bool { return c.Kind == fsm.Renew })
		})
		if n > 1 {
			t.Errorf("the renewal came in entry %d after it was asked for, want at most 2", n+1)
		}
	})
}

func TestWaitThatEndsIsHeldAfterAnEntryConfirmedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.must(acquire("k", "a", "1", time.Minute, 0))
		start, before := time.Now(), b.proposed()
		got := (<-b.submit(acquire("k", "b", "1", time.Minute, 3*time.Second)))[0]
		if !errors.Is(got.Err, tenure.ErrHeld) || time.Since(start) != 3*time.Second {
			t.Errorf("after %v: %+v, want held after 3s", time.Since(start), got)
		}
		if b.proposed() == before {
			t.Error("no entry confirmed that the key is held")
		}
	})
}

// However many ask at once, one entry is in flight: far fewer than the log keeps
// behind a snapshot, which is what hashicorp/raft#697 needs to be harmless.
func TestOneEntryIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.must(acquire("k", "a", "1", time.Minute, 0))
		var inFlight, most int
		b.mu.Lock()
		inner := b.s.cfg.Propose
		b.mu.Unlock()
		b.s.cfg.Propose = func(data []byte) <-chan Outcome {
			b.mu.Lock()
			inFlight++
			most = max(most, inFlight)
			b.mu.Unlock()
			out := make(chan Outcome, 1)
			go func() {
				time.Sleep(time.Millisecond)
				o := <-inner(data)
				b.mu.Lock()
				inFlight--
				b.mu.Unlock()
				out <- o
			}()
			return out
		}
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() { b.must(acquire(fmt.Sprint("k", i), "a", "1", time.Minute, 0)) })
		}
		wg.Wait()
		if most != 1 {
			t.Errorf("%d entries were in flight at once", most)
		}
	})
}

// More than the queue holds is refused at once, as not applied.
func TestFullQueueIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.must(acquire("k", "a", "1", time.Minute, 0))
		b.mu.Lock()
		b.hold = make(chan struct{})
		hold := b.hold
		b.mu.Unlock()
		b.submit(&Request{})
		synctest.Wait()
		flood := &Request{Commands: make([]fsm.Command, MaxQueued), Done: func(*Request) {}}
		for i := range flood.Commands {
			flood.Commands[i] = fsm.Command{Kind: fsm.Renew, Key: "k", Owner: "a", Epoch: 1, TTL: time.Minute}
		}
		if err := b.s.Submit(flood); err != nil {
			t.Fatal(err)
		}
		var u *tenure.UnavailableError
		if got := (<-b.submit(renew("k", "a", 1, time.Minute)))[0]; !errors.As(got.Err, &u) || u.MaybeApplied {
			t.Errorf("one more got %+v, want unavailable and not applied", got)
		}
		b.s.End(flood, context.Canceled)
		close(hold)
	})
}

// A's wait is over; before the entry that confirms 'held' is applied, A's caller
// goes. Whoever came to the line meanwhile must keep it: B is first at the
// release, and nobody is forgotten when leadership ends.
func TestAskerThatLeavesTwiceTakesNobodyAlong(t *testing.T) {
	for name, other := range map[string]struct{ owner, id string }{"another waiter": {"b", "1"}, "its own retry": {"a", "1"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				g := b.must(acquire("k", "x", "1", time.Minute, 0))
				first := acquire("k", "a", "1", time.Minute, time.Second)
				b.submit(first)
				synctest.Wait()
				letGo := b.holdEntries()
				time.Sleep(990 * time.Millisecond)
				b.submit(renew("k", "x", g.Record.Epoch, time.Minute))
				synctest.Wait()
				time.Sleep(20 * time.Millisecond)
				next := b.submit(acquire("k", other.owner, other.id, time.Minute, 10*time.Minute))
				synctest.Wait()
				letNextGo := b.holdEntries()
				letGo()
				synctest.Wait()
				b.s.End(first, context.Canceled)
				b.releaseEntries()
				letNextGo()
				late := b.submit(acquire("k", "c", "1", time.Minute, 10*time.Minute))
				synctest.Wait()
				b.must(release("k", "x", g.Record.Epoch))
				if got := (<-next)[0]; got.Err != nil || got.Grant.Record.Owner != other.owner {
					t.Errorf("the first in line got %+v", got)
				}
				synctest.Wait()
				select {
				case r := <-late:
					t.Errorf("who came later got %+v", r[0])
				default:
				}
				b.stop()
				if got := (<-late)[0]; !errors.Is(got.Err, tenure.ErrUnavailable) {
					t.Errorf("at the end of leadership the last in line got %+v", got)
				}
			})
		})
	}
}

// holdEntries keeps entries that are proposed from now on from committing until
// the function that it returns is called.
func (b *bench) holdEntries() (letGo func()) {
	hold := make(chan struct{})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold = hold
	return func() { close(hold) }
}

// releaseEntries lets later entries commit at once.
func (b *bench) releaseEntries() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold = nil
}
