package check

import (
	"fmt"
	"maps"
	"slices"

	"example.com/tenure/jepsen-lite/history"
)

// Data is the checker of the durable layer, claim B, without any clock. W2: a
// recovery finds every acknowledged write of the epochs below its own that
// nobody asked to forget, whenever it was acknowledged, for either the reader
// saw the write or the writer the seal; and a read finds those of its own
// epoch that were acknowledged before it. W3: nothing is read that nobody
// wrote, or that was written under a higher epoch. W4: what a tenure's
// recovery did not find of older epochs does not turn up later in its copy.
// W5: what was read once within an epoch stays. W6: a seal never falls: no
// write finds one below its own epoch, which its tenure's recovery had sealed.
// A write without an acknowledgement may be there or not. It can't see who held the key when, and
// a value that nobody reads again is not checked.
var Data = Checker{
	Name:  "data",
	Sees:  "an acknowledged write that is lost, and a write that lands where it must not",
	Blind: "leases and time, writes that nobody read afterwards, what was forgotten",
	Needs: history.TellsData,
	check: checkData,
}

func checkData(h *history.History, f *Finding) {
	all := copiesByKey(h)
	for _, key := range keysOf(all) {
		c := all[key]
		f.sealFell(c)
		acked := c.acked()
		seen := make(map[uint64]*history.Op) // by epoch: the newest look that is over
		for _, look := range c.looks {
			f.Looked++
			f.lost(c, look, acked)
			f.phantoms(c, look)
			f.stale(c, look)
			if before := seen[look.Invoke.Epoch]; before != nil && before.Return < look.Call {
				f.gone(c, before, look)
			}
			if last := seen[look.Invoke.Epoch]; last == nil || look.Return > last.Return {
				seen[look.Invoke.Epoch] = look
			}
		}
	}
}

// acked returns the values whose write was acknowledged.
func (c *copies) acked() history.Set {
	var values []uint64
	for v, op := range c.writes {
		if op.Outcome == history.OK {
			values = append(values, v)
		}
	}
	return history.SetOf(values...)
}

// lost is W2.
func (f *Finding) lost(c *copies, look *history.Op, acked history.Set) {
	epoch, dead := look.Invoke.Epoch, c.mayForget(look.Return)
	var missing []uint64
	for _, v := range acked.Without(look.Complete.Values, 1<<20) {
		w := c.writes[v]
		below := w.Invoke.Epoch < epoch
		own := w.Invoke.Epoch == epoch && look.Invoke.F == history.Read && w.Return < look.Call
		if (below || own) && w.Invoke.Epoch > dead {
			missing = append(missing, v)
		}
	}
	if len(missing) == 0 {
		return
	}
	w := c.writes[missing[0]]
	f.violate(Violation{
		Rule: "W2", Claim: ClaimB, Key: c.key, From: w.Return, To: look.Return,
		Sentence: fmt.Sprintf("write %d of %s, acknowledged by %s at epoch %d at %s, is missing from what %s %s at epoch %d from %s to %s",
			missing[0], c.key, w.Invoke.Owner, w.Invoke.Epoch, at(w.Return), look.Invoke.Owner, didLook(look), epoch, at(look.Call), at(look.Return)),
		Amount: fmt.Sprintf("%d acknowledged writes missing: %v", len(missing), history.SetOf(missing...)),
	}, w.Complete, look.Invoke, look.Complete)
}

// phantoms is W3.
func (f *Finding) phantoms(c *copies, look *history.Op) {
	known := make([]uint64, 0, len(c.writes))
	for v, w := range c.writes {
		if w.Call <= look.Return && w.Invoke.Epoch <= look.Invoke.Epoch {
			known = append(known, v)
		}
	}
	for _, v := range look.Complete.Values.Without(history.SetOf(known...), 1) {
		what := "which nobody had written"
		var wrote *history.Event
		if w := c.writes[v]; w != nil {
			what = fmt.Sprintf("which %s wrote at epoch %d from %s", w.Invoke.Owner, w.Invoke.Epoch, at(w.Call))
			wrote = w.Invoke
		}
		f.violate(Violation{
			Rule: "W3", Claim: ClaimB, Key: c.key,
			Sentence: fmt.Sprintf("%s %s at epoch %d write %d of %s by %s, %s",
				look.Invoke.Owner, didLook(look), look.Invoke.Epoch, v, c.key, at(look.Return), what),
		}, look.Complete, wrote)
	}
}

// stale is W4.
func (f *Finding) stale(c *copies, look *history.Op) {
	base := c.base[look.Invoke.Epoch]
	if base == nil || look == base {
		return
	}
	for _, v := range look.Complete.Values.Without(base.Complete.Values, 1<<20) {
		w := c.writes[v]
		if w == nil || w.Invoke.Epoch >= look.Invoke.Epoch {
			continue
		}
		f.violate(Violation{
			Rule: "W4", Claim: ClaimB, Key: c.key,
			Sentence: fmt.Sprintf("write %d of %s by %s at epoch %d landed in the copy of epoch %d of %s, whose recovery at %s had not found it: it was read there at %s",
				v, c.key, w.Invoke.Owner, w.Invoke.Epoch, look.Invoke.Epoch, look.Invoke.Owner, at(base.Return), at(look.Return)),
		}, look.Complete, base.Complete, w.Invoke)
		return
	}
}

// gone is W5.
func (f *Finding) gone(c *copies, before, look *history.Op) {
	missing := before.Complete.Values.Without(look.Complete.Values, 10)
	if len(missing) == 0 {
		return
	}
	f.violate(Violation{
		Rule: "W5", Claim: ClaimB, Key: c.key, From: before.Return, To: look.Return,
		Sentence: fmt.Sprintf("write %d of %s was in the copy of epoch %d at %s and is gone from it at %s",
			missing[0], c.key, look.Invoke.Epoch, at(before.Return), at(look.Return)),
		Amount: fmt.Sprintf("at least %d writes gone", len(missing)),
	}, before.Complete, look.Complete)
}

// sealFell is W6.
func (f *Finding) sealFell(c *copies) {
	for _, v := range slices.Sorted(maps.Keys(c.writes)) {
		w := c.writes[v]
		if w.Complete == nil || w.Complete.Sealed == 0 || w.Complete.Sealed >= w.Invoke.Epoch {
			continue
		}
		f.violate(Violation{
			Rule: "W6", Claim: ClaimB, Key: c.key,
			Sentence: fmt.Sprintf("%s found %s sealed below epoch %d when it wrote %d at %s, though it had sealed everything below its own epoch %d before",
				w.Invoke.Owner, c.key, w.Complete.Sealed, v, at(w.Answered()), w.Invoke.Epoch),
		}, w.Complete, w.Invoke)
		return
	}
}

func didLook(op *history.Op) string {
	if op.Invoke.F == history.Recover {
		return "recovered"
	}
	return "read"
}
