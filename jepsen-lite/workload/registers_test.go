package workload

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"example.com/tenure/jepsen-lite/history"
)

// Whatever commands come in whatever order, values are given once, a seal never
// falls, and a copy has what was written to it since it was published last.
func TestRegisters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := NewRegisters()
		do := func(c Command) Answer {
			c.Key = "k"
			a, err := r.Do(c)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		given, seal, copies := uint64(0), uint64(0), make(map[uint64][]uint64)
		for range rapid.IntRange(1, 40).Draw(t, "commands") {
			epoch := rapid.Uint64Range(1, 4).Draw(t, "epoch")
			value := rapid.Uint64Range(1, 9).Draw(t, "value")
			switch f := rapid.SampledFrom([]string{Next, Seal, Look, List, Read, Write, Publish}).Draw(t, "command"); f {
			case Next:
				if a := do(Command{F: f}); a.Value != given+1 {
					t.Fatalf("given %d after %d", a.Value, given)
				}
				given++
			case Seal:
				seal = max(seal, epoch)
				fallthrough
			case Look:
				if a := do(Command{F: f, Epoch: epoch}); a.Sealed != seal {
					t.Fatalf("%s: sealed %d, want %d", f, a.Sealed, seal)
				}
			case List:
				if a := do(Command{F: f}); len(a.Epochs) != len(copies) || !slices.IsSorted(a.Epochs) {
					t.Fatalf("copies %v, want those of %v", a.Epochs, copies)
				}
			case Read:
				if a := do(Command{F: f, Epoch: epoch}); !slices.Equal(a.Values, history.SetOf(copies[epoch]...)) {
					t.Fatalf("read %v, want %v", a.Values, copies[epoch])
				}
			case Write:
				do(Command{F: f, Epoch: epoch, Value: value})
				copies[epoch] = append(copies[epoch], value)
			case Publish:
				do(Command{F: f, Epoch: epoch, Values: history.SetOf(value)})
				copies[epoch] = []uint64{value}
			}
		}
		if a, _ := r.Do(Command{F: Look, Key: "other"}); a.Sealed != 0 {
			t.Fatal("a command of one key is seen at another")
		}
	})
}
