package fleet

import (
	"errors"
	"sync"
	"time"

	"example.com/tenure/jepsen-lite/history"
)

// A recorder writes the history. What happens before its first line is known,
// which says what the fleet can do, it keeps in mind. Its methods can be called
// concurrently.
type recorder struct {
	begun time.Time

	mu     sync.Mutex
	ids    uint64
	early  []history.Event
	out    *history.Writer // nil until it is open
	err    error           // the first one
	counts Progress
	reigns map[string]uint64 // by key: the newest epoch of an answer
	newest string            // the owner that the newest answer under a key's newest epoch told
}

// Progress is how far a run is.
type Progress struct {
	Elapsed      time.Duration // since the fleet was started
	Operations   int           // that were completed
	Acknowledged int           // of them, writes that were acknowledged
	Faults       int           // that were taken
	Changes      int           // of the owner of a key, as far as answers tell
}

func newRecorder() *recorder { return &recorder{begun: time.Now(), reigns: make(map[string]uint64)} }

func (r *recorder) now() time.Duration { return time.Since(r.begun) }

func (r *recorder) id() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids++
	return r.ids
}

// write records an event that happens now.
func (r *recorder) write(e history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.T = r.now()
	r.count(&e)
	if r.out == nil {
		r.early = append(r.early, e)
		return
	}
	r.err = errors.Join(r.err, r.out.Write(e))
}

func (r *recorder) count(e *history.Event) {
	switch e.Kind {
	case history.Fault:
		r.counts.Faults++
	case history.OK, history.Fail, history.Info:
		r.counts.Operations++
		if e.Kind == history.OK && e.F == history.Put {
			r.counts.Acknowledged++
		}
		if before := r.reigns[e.Key]; e.Kind == history.OK && e.Epoch > before {
			r.reigns[e.Key] = e.Epoch
			if before > 0 {
				r.counts.Changes++
			}
		}
		if e.Kind == history.OK && e.Owner != "" && e.Epoch == r.reigns[e.Key] {
			r.newest = e.Owner
		}
	}
}

// open writes the first line and all that has happened so far.
func (r *recorder) open(out *history.Writer, terms history.Terms) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out = out
	err := out.Write(history.Event{Kind: history.Run, Terms: &terms})
	for _, e := range r.early {
		err = errors.Join(err, out.Write(e))
	}
	r.early = nil
	return err
}

func (r *recorder) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *recorder) progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.counts
	p.Elapsed = r.now()
	return p
}

// tellsEpochs reports whether an answer has told an epoch.
func (r *recorder) tellsEpochs() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.reigns) > 0
}

// owner returns the replica that owned a key not long ago, "" if nobody knows.
func (r *recorder) owner() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest
}
