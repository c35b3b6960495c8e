package workload

import (
	"slices"
	"sync"

	"example.com/tenure/jepsen-lite/history"
)

// A Command is one step on the durable copies of a key. Each step takes effect
// at once and as a whole.
type Command struct {
	F      string      `json:"f"` // one of the constants below
	Key    string      `json:"key"`
	Epoch  uint64      `json:"epoch,omitempty"`
	Value  uint64      `json:"value,omitempty"`
	Values history.Set `json:"values,omitempty"`
}

// What a command does.
const (
	Next    = "next"    // gives a value that nobody has written yet
	Seal    = "seal"    // raises the seal to Epoch, unless it is higher; gives the seal
	Look    = "look"    // gives the seal
	List    = "list"    // gives the epochs of all copies
	Read    = "read"    // gives the values in the copy of Epoch
	Write   = "write"   // adds Value to the copy of Epoch
	Publish = "publish" // makes Values the copy of Epoch
)

// An Answer is what a command gives.
type Answer struct {
	Value  uint64      `json:"value,omitempty"`
	Values history.Set `json:"values,omitempty"`
	Epochs []uint64    `json:"epochs,omitempty"`
	Sealed uint64      `json:"sealed,omitempty"`
}

// Registers are durable copies in memory: of each key a set of values an
// epoch, kept as the durable layer's rule demands. They implement [Copies]
// and never fail.
type Registers struct {
	mu   sync.Mutex
	keys map[string]*register
}

type register struct {
	copies map[uint64]history.Set
	sealed uint64
	values uint64 // given ever
}

// NewRegisters returns registers without any copy.
func NewRegisters() *Registers { return &Registers{keys: make(map[string]*register)} }

// Do implements [Copies].
func (r *Registers) Do(c Command) (Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.keys[c.Key]
	if of == nil {
		of = &register{copies: make(map[uint64]history.Set)}
		r.keys[c.Key] = of
	}
	return of.do(c), nil
}

func (r *register) do(c Command) (a Answer) {
	switch c.F {
	case Next:
		r.values++
		a.Value = r.values
	case Seal:
		r.sealed = max(r.sealed, c.Epoch)
		a.Sealed = r.sealed
	case Look:
		a.Sealed = r.sealed
	case List:
		for epoch := range r.copies {
			a.Epochs = append(a.Epochs, epoch)
		}
		slices.Sort(a.Epochs)
	case Read:
		a.Values = r.copies[c.Epoch]
	case Write:
		r.copies[c.Epoch] = r.copies[c.Epoch].With(c.Value)
	case Publish:
		r.copies[c.Epoch] = c.Values
	}
	return a
}
