package check_test

import (
	"fmt"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A synthDisk is the durable layer of one key.
type synthDisk struct {
	copies map[uint64][]uint64 // complete ones, by epoch
	sealed uint64
	value  uint64
}

func newSynthDisk() *synthDisk { return &synthDisk{copies: make(map[uint64][]uint64)} }

// newest returns the newest complete copy above the forgotten epoch and up to
// another.
func (d *synthDisk) newest(above, upTo uint64) uint64 {
	var found uint64
	for epoch := range d.copies {
		if epoch > above && epoch <= upTo {
			found = max(found, epoch)
		}
	}
	return found
}

// A synthHolder wants one key for one replica.
type synthHolder struct {
	*synth
	client, key, owner string
	req                int
	epoch, forgotten   uint64
	fence              time.Duration
	paused, frozen     time.Duration // until when the process, and its clock
	slow               float64       // the rate of its clock
	dead, stopped      bool
}

func newSynthHolder(s *synth, client, key string) *synthHolder {
	s.owners++
	h := &synthHolder{synth: s, client: client, key: key, owner: fmt.Sprintf("%s/%d", client, s.owners), slow: 1}
	if s.defect == "margin-ignored" {
		h.slow = 0.93
	}
	return h
}

func (h *synthHolder) event(kind history.Kind) history.Event {
	return history.Event{Kind: kind, Client: h.client, Key: h.key, Owner: h.owner, Epoch: h.epoch}
}

// call sends a request; while the process is paused it takes no answer.
func (h *synthHolder) call(ask history.Event, done func(history.Event)) {
	h.synth.call(ask, func(answer history.Event) {
		if h.now < h.paused {
			h.after(h.paused-h.now, func() { done(answer) })
			return
		}
		done(answer)
	})
}

func (h *synthHolder) acquire() {
	h.epoch, h.fence, h.stopped = 0, 0, false
	h.req++
	h.tryAcquire()
}

func (h *synthHolder) tryAcquire() {
	if h.dead {
		return
	}
	sent := h.now
	ask := history.Event{F: history.Acquire, Client: h.client, Key: h.key, Owner: h.owner, Req: fmt.Sprintf("q%d", h.req), TTL: synthTTL}
	h.call(ask, func(answer history.Event) {
		switch {
		case h.dead:
		case answer.Kind == history.Info:
			h.tryAcquire()
		case answer.Kind == history.Fail && answer.Err == history.Held:
			h.after(h.between(10, 40), h.tryAcquire)
		case answer.Kind == history.Fail:
			h.acquire()
		case h.fenceFor(sent) <= h.now:
			h.call(history.Event{F: history.Release, Client: h.client, Key: h.key, Owner: h.owner, Epoch: answer.Epoch},
				func(history.Event) { h.after(h.between(10, 40), h.acquire) })
		default:
			h.epoch, h.forgotten = answer.Epoch, answer.Forgotten
			h.hold(sent, answer)
			h.recover()
			h.after(h.untilRenewal(), h.renew)
		}
	})
}

// fenceFor returns the fence of a grant that was sent for at an instant, in
// true time.
func (h *synthHolder) fenceFor(sent time.Duration) time.Duration {
	usable := synthTTL - synthMargin
	if h.defect == "margin-ignored" {
		usable = synthTTL
	}
	if h.defect == "fence-on-receipt" {
		sent = h.now
	}
	return sent + time.Duration(float64(usable)/h.slow)
}

// hold takes a grant. The event has the fence that is right.
func (h *synthHolder) hold(sent time.Duration, answer history.Event) {
	e := h.event(history.Hold)
	e.Sent, e.Fence, e.Index = sent, sent+time.Duration(float64(synthTTL-synthMargin)/h.slow), answer.Index
	h.fence = max(h.fence, h.fenceFor(sent))
	h.emit(e)
}

func (h *synthHolder) open() bool {
	return !h.dead && !h.stopped && h.epoch != 0 && (h.now < h.fence || h.now < h.frozen)
}

func (h *synthHolder) renew() {
	if h.dead || h.stopped || h.epoch == 0 {
		return
	}
	if h.now < h.paused {
		h.after(h.paused-h.now, h.renew)
		return
	}
	sent, epoch := h.now, h.epoch
	ask := history.Event{F: history.Renew, Client: h.client, Key: h.key, Owner: h.owner, Epoch: epoch, TTL: synthTTL}
	h.call(ask, func(answer history.Event) {
		switch {
		case h.dead || h.epoch != epoch || h.stopped:
		case answer.Kind == history.OK:
			h.hold(sent, answer)
			h.after(h.untilRenewal(), h.renew)
		case answer.Kind == history.Info:
			h.renew()
		default:
			h.stop("lost")
			h.acquire()
		}
	})
}

// untilRenewal is a third of the TTL, and rarely so long that the fence comes
// first.
func (h *synthHolder) untilRenewal() time.Duration {
	if h.chance(10) {
		return h.between(1000, 1400)
	}
	return h.between(200, 400)
}

func (h *synthHolder) stop(why string) {
	h.stopped = true
	e := h.event(history.Stop)
	e.Msg = why
	h.emit(e)
}

// recover seals, reads and publishes, and then the holder works.
func (h *synthHolder) recover() {
	d, epoch := h.disks[h.key], h.epoch
	e := h.event(history.Invoke)
	h.id++
	e.F, e.ID, e.Forgotten = history.Recover, h.id, h.forgotten
	h.emit(e)
	d.sealed = max(d.sealed, epoch)
	h.after(h.between(1, 5), func() {
		from := d.newest(h.forgotten, epoch)
		found := append([]uint64(nil), d.copies[from]...)
		h.after(h.between(1, 5), func() {
			if h.dead || h.epoch != epoch || d.sealed > epoch || h.chance(20) {
				h.emit(history.Event{Kind: history.Info, ID: e.ID, Err: "died"})
				return
			}
			d.copies[epoch] = found
			h.emit(history.Event{Kind: history.OK, ID: e.ID, Copy: from, Values: history.SetOf(found...)})
			h.work(epoch)
		})
	})
}

// work does what holders do, one thing after the other.
func (h *synthHolder) work(epoch uint64) {
	if h.dead || h.epoch != epoch || h.stopped {
		return
	}
	again := func() { h.after(h.between(5, 40), func() { h.work(epoch) }) }
	switch {
	case !h.open():
		again()
	case h.chance(60):
		h.dead = true
		h.fault("kill-holder", h.client, h.between(50, 300), func() { newSynthHolder(h.synth, h.client, h.key).acquire() })
	case h.chance(60):
		h.release()
	case h.chance(80):
		h.forget()
	case h.chance(8):
		h.read(again)
	default:
		h.write(again)
	}
}

func (h *synthHolder) read(again func()) {
	e := h.event(history.Invoke)
	h.id++
	e.F, e.ID = history.Read, h.id
	h.emit(e)
	values := h.disks[h.key].copies[h.epoch]
	h.after(h.between(1, 4), func() {
		h.emit(history.Event{Kind: history.OK, ID: e.ID, Copy: e.Epoch, Values: history.SetOf(values...)})
		again()
	})
}

func (h *synthHolder) release() {
	epoch := h.epoch
	if h.defect == "release-before-stop" {
		for range 5 {
			h.write(func() {})
		}
		h.after(20*time.Millisecond, func() { h.stop("released") })
	} else {
		h.stop("released")
	}
	h.call(history.Event{F: history.Release, Client: h.client, Key: h.key, Owner: h.owner, Epoch: epoch},
		func(history.Event) { h.after(h.between(20, 90), h.acquire) })
}

// forget is retried until it is answered, and then the tenure ends.
func (h *synthHolder) forget() {
	if !h.stopped {
		h.stop("forgotten")
	}
	h.call(history.Event{F: history.Forget, Client: h.client, Key: h.key, Owner: h.owner, Epoch: h.epoch}, func(answer history.Event) {
		switch {
		case answer.Kind == history.Info:
			h.forget()
		default:
			h.release()
		}
	})
}

// write passes the gate, writes, looks for a seal, passes the gate again and
// acknowledges. A freeze may come anywhere in between.
func (h *synthHolder) write(again func()) {
	if !h.open() {
		return
	}
	d := h.disks[h.key]
	d.value++
	value := d.value
	e := h.event(history.Invoke)
	h.id++
	e.F, e.ID, e.Value = history.Write, h.id, value
	gate := h.event(history.Gate)
	gate.N, gate.Value = 1, value
	h.emit(gate)
	h.emit(e)
	h.after(h.freeze(), func() {
		into := e.Epoch
		if h.defect == "lands-in-newest" {
			into = d.newest(0, d.sealed)
		}
		durable := h.defect != "ack-before-durable" || h.rng.IntN(50) != 0
		if durable && !h.dead {
			d.copies[into] = append(d.copies[into], value)
		}
		h.after(h.freeze(), func() { h.endWrite(e, d.sealed > e.Epoch, again) })
	})
}

// endWrite is the second half of a write.
func (h *synthHolder) endWrite(e history.Event, sealed bool, again func()) {
	if h.dead {
		return // never completed
	}
	open := h.open() && h.epoch == e.Epoch
	if h.defect == "gate-only-before" {
		open = true
	}
	if open && h.defect != "gate-only-before" {
		gate := e
		gate.Kind, gate.N, gate.F, gate.ID = history.Gate, 2, "", 0
		h.emit(gate)
	}
	if !open || sealed && h.defect != "unsealed" && h.defect != "gate-only-before" {
		h.emit(history.Event{Kind: history.Info, ID: e.ID, Err: history.Fenced, N: 2})
		again()
		return
	}
	ack := e
	ack.Kind, ack.F, ack.ID = history.Ack, "", 0
	h.emit(ack)
	h.emit(history.Event{Kind: history.OK, ID: e.ID})
	again()
}

// freeze returns how long a step takes, rarely longer than a TTL. Where clocks
// may stand still the holder's does, too.
func (h *synthHolder) freeze() time.Duration {
	if !h.chance(60) {
		return h.between(1, 5)
	}
	d := synthTTL + h.between(100, 900)
	h.paused = h.now + d
	if !h.timed {
		h.frozen = h.paused + 20*time.Millisecond
	}
	h.fault("pause-holder", h.client, d, func() {})
	return d
}
