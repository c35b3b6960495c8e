package history

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Set is a set of written values. In a line it is a string of ranges, such
// as "1-40,42", since values of a key are counted up and a copy holds most of
// them.
type Set []Range

// A Range is the values from First to Last.
type Range struct{ First, Last uint64 }

// SetOf returns the set of the values.
func SetOf(values ...uint64) Set {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	var s Set
	for _, v := range slices.Compact(sorted) {
		if n := len(s); n > 0 && s[n-1].Last+1 == v {
			s[n-1].Last = v
		} else {
			s = append(s, Range{v, v})
		}
	}
	return s
}

// With returns the set with one more value. It leaves s as it is.
func (s Set) With(v uint64) Set {
	at, found := s.search(v)
	if found {
		return s
	}
	out := slices.Insert(slices.Clone(s), at, Range{v, v})
	if at+1 < len(out) && v+1 == out[at+1].First {
		out[at].Last = out[at+1].Last
		out = slices.Delete(out, at+1, at+2)
	}
	if at > 0 && out[at-1].Last+1 == v {
		out[at-1].Last = out[at].Last
		out = slices.Delete(out, at, at+1)
	}
	return out
}

// Has reports whether v is in the set.
func (s Set) Has(v uint64) bool {
	_, found := s.around(v)
	return found
}

// around returns the range that has v.
func (s Set) around(v uint64) (Range, bool) {
	i, found := s.search(v)
	if !found {
		return Range{}, false
	}
	return s[i], true
}

// search returns where the range is that has v, or where it would be.
func (s Set) search(v uint64) (int, bool) {
	return slices.BinarySearchFunc(s, v, func(r Range, v uint64) int {
		switch {
		case r.Last < v:
			return -1
		case r.First > v:
			return 1
		}
		return 0
	})
}

// Without returns the values of s that are not in other, at most limit of
// them.
func (s Set) Without(other Set, limit int) []uint64 {
	var out []uint64
	for _, r := range s {
		for v := r.First; len(out) < limit; v++ {
			if skip, in := other.around(v); !in {
				out = append(out, v)
			} else {
				v = min(skip.Last, r.Last)
			}
			if v == r.Last {
				break
			}
		}
	}
	return out
}

// MarshalText writes the set as ranges.
func (s Set) MarshalText() ([]byte, error) {
	var b []byte
	for i, r := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, r.First, 10)
		if r.Last > r.First {
			b = strconv.AppendUint(append(b, '-'), r.Last, 10)
		}
	}
	return b, nil
}

// UnmarshalText reads ranges, which must rise and not touch each other.
func (s *Set) UnmarshalText(text []byte) error {
	*s = nil
	if len(text) == 0 {
		return nil
	}
	for part := range strings.SplitSeq(string(text), ",") {
		r, err := parseRange(part)
		if err != nil {
			return err
		}
		if n := len(*s); n > 0 && ((*s)[n-1].Last == ^uint64(0) || r.First <= (*s)[n-1].Last+1) {
			return fmt.Errorf("ranges %q: %q does not follow the range before it", text, part)
		}
		*s = append(*s, r)
	}
	return nil
}

func parseRange(text string) (Range, error) {
	first, last, isRange := strings.Cut(text, "-")
	a, err := parseValue(first)
	if err != nil || !isRange {
		return Range{a, a}, err
	}
	b, err := parseValue(last)
	if err == nil && b <= a {
		err = fmt.Errorf("range %q does not rise", text)
	}
	return Range{a, b}, err
}

func parseValue(text string) (uint64, error) {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil || strconv.FormatUint(v, 10) != text {
		return 0, fmt.Errorf("value %q is no number in decimal", text)
	}
	return v, nil
}
