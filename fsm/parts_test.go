package fsm

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// TestIndexIsAMap compares the index with a map, through growth, shrinking and
// the closing of gaps. The hashes are few, so that many fall together.
func TestIndexIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x index
		want := map[uint32]uint64{} // hash by number
		hashes := []uint64{0, 1, 7, 8, 1 << 32, 7 | 1<<40, ^uint64(0), 6, 14}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				number := rapid.Uint32Range(0, 60).Draw(t, "number")
				if _, ok := want[number]; ok {
					t.Skip("it is there")
				}
				want[number] = rapid.SampledFrom(hashes).Draw(t, "hash")
				x.insert(want[number], number)
			},
			"remove": func(t *rapid.T) {
				number := rapid.Uint32Range(0, 60).Draw(t, "number")
				hash, ok := want[number]
				if x.remove(hash, number) != ok {
					t.Fatalf("remove %d: want %v", number, ok)
				}
				delete(want, number)
			},
			"": func(t *rapid.T) {
				for number := range uint32(61) {
					hash, ok := want[number]
					if found := isIn(&x, hash, number); found != ok {
						t.Fatalf("find %d under %x: %v, want %v", number, hash, found, ok)
					}
				}
				for i := range x.parts {
					if p := &x.parts[i]; p.n*4 > len(p.cells)*3 {
						t.Fatalf("%d of %d cells are in use", p.n, len(p.cells))
					}
				}
			},
		})
	})
}

func isIn(x *index, hash uint64, number uint32) bool {
	for search := x.search(hash); ; {
		if n, ok := search.next(); !ok || n == number {
			return ok
		}
	}
}

// TestIndexLetsGo fills an index and empties it: what is left is small.
func TestIndexLetsGo(t *testing.T) {
	var x index
	hash := func(n uint32) uint64 { return hash(fixedKey, binary.LittleEndian.AppendUint32(nil, n)) }
	const n = 100_000
	for i := range uint32(n) {
		x.insert(hash(i), i)
	}
	for i := range uint32(n) {
		if !x.remove(hash(i), i) {
			t.Fatalf("%d is gone", i)
		}
	}
	for i := range x.parts {
		if got := len(x.parts[i].cells); got > smallestPart {
			t.Fatalf("part %d keeps %d cells", i, got)
		}
	}
}

// TestSlotsAreTheLowest compares with a plain search over several pages.
func TestSlotsAreTheLowest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s slots
		used := map[uint32]bool{}
		lowest := func() uint32 {
			slot := uint32(0)
			for used[slot] {
				slot++
			}
			return slot
		}
		t.Repeat(map[string]func(*rapid.T){
			"take some": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 3, 200, 300}).Draw(t, "n") {
					want := lowest()
					if slot := s.take(); slot != want {
						t.Fatalf("took %d, want %d", slot, want)
					}
					used[want] = true
				}
			},
			"take at": func(t *rapid.T) {
				slot := rapid.Uint32Range(0, 2000).Draw(t, "slot")
				if used[slot] {
					t.Skip("it is in use")
				}
				s.takeAt(slot)
				used[slot] = true
			},
			"give some": func(t *rapid.T) {
				from := rapid.Uint32Range(0, 2000).Draw(t, "from")
				for slot := from; slot < from+rapid.SampledFrom([]uint32{1, 300}).Draw(t, "n"); slot++ {
					if used[slot] {
						delete(used, slot)
						if s.give(slot) != pageIsEmpty(used, slot/pageSize) {
							t.Fatalf("whether page %d is empty", slot/pageSize)
						}
					}
				}
			},
			"": func(t *rapid.T) {
				last := 0
				for slot := range used {
					last = max(last, int(slot/pageSize)+1)
				}
				if s.pages() != last {
					t.Fatalf("%d pages, want %d", s.pages(), last)
				}
			},
		})
	})
}

func pageIsEmpty(used map[uint32]bool, page uint32) bool {
	for slot := page * pageSize; slot < (page+1)*pageSize; slot++ {
		if used[slot] {
			return false
		}
	}
	return true
}

// TestHash compares with SipHash-1-3's published vectors, which are for the key
// 00 01 ... 0f and the texts of 0, 1, 2 ... bytes 00 01 02 ...
func TestHash(t *testing.T) {
	key := sipKey{0x0706050403020100, 0x0f0e0d0c0b0a0908}
	for n, want := range []uint64{0xabac0158050fc4dc, 0xc9f49bf37d57ca93, 0x82cb9b024dc7d44d, 0x8bf80ab8e7ddf7fb} {
		var text []byte
		for i := range n {
			text = append(text, byte(i))
		}
		if got := hash(key, text); got != want {
			t.Errorf("hash of %d bytes: %016x, want %016x", n, got, want)
		}
	}
}
