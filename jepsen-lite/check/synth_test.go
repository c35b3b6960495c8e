package check_test

import (
	"bytes"
	"container/heap"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A synth is a made-up run: a correct store, correct holders, a correct
// durable layer, on one simulated time line, with lost messages, late answers,
// freezes, crashes, forgets and releases. Planting a defect changes one rule.
type synth struct {
	rng    *rand.Rand
	now    time.Duration
	queue  events
	seq    int
	out    []history.Event
	log    []history.Event
	id     uint64
	defect string
	timed  bool
	calm   bool // the liveness phase: no faults any more
	store  *synthStore
	disks  map[string]*synthDisk
	owners int
}

const (
	synthTTL    = time.Second
	synthMargin = 100 * time.Millisecond
	synthKeys   = 4
	synthFaulty = 12 * time.Second
	synthCalm   = 4 * time.Second
)

// synthesize makes the history of one run.
func synthesize(t testing.TB, seed uint64, defect string) *history.History {
	s := &synth{rng: rand.New(rand.NewPCG(seed, 7)), defect: defect, timed: true, disks: make(map[string]*synthDisk)}
	s.timed = defect != "unsealed" && defect != "untimed"
	s.store = newSynthStore(s)
	s.emit(history.Event{Kind: history.Run, Terms: &history.Terms{
		Seed: seed, Arena: "synthetic", TTL: synthTTL, Margin: synthMargin, Timed: s.timed, Available: 3 * time.Second,
		Tells: []string{"ops", "gates", "data", "log", "watch", "sums", "leaks"},
	}})
	s.emit(history.Event{Kind: history.Phase, F: history.PhaseSafety})
	for k := range synthKeys {
		key := fmt.Sprintf("k%d", k)
		s.disks[key] = newSynthDisk()
		for c := range 3 {
			s.after(s.between(0, 100), func() { newSynthHolder(s, fmt.Sprintf("r%d", c), key).acquire() })
		}
	}
	s.after(50*time.Millisecond, s.reader)
	s.after(time.Second, s.nodes)
	s.after(synthFaulty, func() {
		s.calm = true
		s.emit(history.Event{Kind: history.Phase, F: history.PhaseLiveness})
	})
	s.run(synthFaulty + synthCalm)
	return s.finish(t)
}

func (s *synth) run(end time.Duration) {
	for len(s.queue) > 0 && s.queue[0].t <= end {
		e := heap.Pop(&s.queue).(event)
		s.now = e.t
		e.f()
	}
}

func (s *synth) finish(t testing.TB) *history.History {
	for _, e := range s.log {
		e.T = s.now
		s.out = append(s.out, e)
	}
	left := 0
	if s.defect == "leak" {
		left = 2
	}
	s.emit(history.Event{Kind: history.Leak, F: "goroutines", N: left})
	s.emit(history.Event{Kind: history.End})
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := range s.out {
		if err := enc.Encode(&s.out[i]); err != nil {
			t.Fatal(err)
		}
	}
	h, err := history.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (s *synth) emit(e history.Event) {
	e.T = s.now
	s.out = append(s.out, e)
}

func (s *synth) after(d time.Duration, f func()) {
	s.seq++
	heap.Push(&s.queue, event{s.now + max(1, d), s.seq, f})
}

// between draws a duration in milliseconds.
func (s *synth) between(low, high int) time.Duration {
	return time.Duration(low)*time.Millisecond + time.Duration(s.rng.Int64N(int64(high-low)*int64(time.Millisecond)))
}

// chance is true with a probability of one in n, and never when all is calm.
func (s *synth) chance(n int) bool { return s.rng.IntN(n) == 0 && !s.calm }

// plant is true if the defect is planted and strikes, one time in n.
func (s *synth) plant(defect string, n int) bool { return s.defect == defect && s.rng.IntN(n) == 0 }

// fault tells a fault that is healed after d, and calls done then.
func (s *synth) fault(kind, target string, d time.Duration, done func()) {
	s.id++
	id := s.id
	s.emit(history.Event{Kind: history.Fault, F: kind, ID: id, Targets: []string{target}})
	s.after(d, func() {
		s.emit(history.Event{Kind: history.Heal, ID: id})
		done()
	})
}

// call sends a request to the store. Its answer may come late, or never, and
// then nobody knows whether it was applied.
func (s *synth) call(ask history.Event, done func(history.Event)) {
	s.id++
	ask.Kind, ask.ID = history.Invoke, s.id
	s.emit(ask)
	there, back := s.between(1, 20), s.between(1, 20)
	if s.chance(15) {
		back = s.between(100, 400)
	}
	lostAsk, lostAnswer := s.chance(50), s.chance(25)
	finish := func(d time.Duration, e history.Event) {
		e.ID = ask.ID
		s.after(d, func() {
			s.emit(e)
			done(e)
		})
	}
	unknown := history.Event{Kind: history.Info, Err: history.Unavailable}
	if lostAsk || s.calm && s.defect == "stuck" && ask.Key == "k1" {
		finish(500*time.Millisecond, unknown)
		return
	}
	s.after(there, func() {
		answer := s.store.apply(ask)
		if lostAnswer {
			finish(500*time.Millisecond, unknown)
			return
		}
		finish(back, answer)
	})
}

// reader asks for what stands, again and again.
func (s *synth) reader() {
	ask := history.Event{F: history.Get, Client: "reader", Key: fmt.Sprintf("k%d", s.rng.IntN(synthKeys))}
	s.call(ask, func(history.Event) { s.after(s.between(5, 60), s.reader) })
}

// nodes tells leaders, snapshots and checksums, and restarts the store.
func (s *synth) nodes() {
	s.store.restart()
	sum := fmt.Sprintf("%016x", s.store.index*2654435761)
	for n := range 3 {
		if s.plant("diverged", 20) {
			sum = "0badc0de0badc0de"
		}
		s.emit(history.Event{Kind: history.Sum, Node: fmt.Sprintf("n%d", n), Index: max(1, s.store.index), Sum: sum})
	}
	s.after(s.between(900, 1500), s.nodes)
}

type event struct {
	t   time.Duration
	seq int
	f   func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].t < q[j].t || q[i].t == q[j].t && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
