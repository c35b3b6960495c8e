package fsm

import "fmt"

// A reading goes through encoded bytes. After a failure it reads zeros, so that
// errors need only be looked at where a loop or an allocation depends on them.
type reading struct {
	rest []byte
	err  error
}

func (r *reading) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrMalformed, what)
	}
	r.rest = nil
}

func (r *reading) byte() byte {
	if len(r.rest) == 0 {
		r.fail("it ends too early")
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// uvarint reads a varint, and fails on one that is longer than it need be.
func (r *reading) uvarint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		b := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(b)
	}
	return r.longUvarint()
}

func (r *reading) longUvarint() uint64 {
	var x uint64
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		if shift == 63 && b > 1 {
			break
		}
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if b == 0 && shift > 0 {
				r.fail("a varint longer than it need be")
				return 0
			}
			return x
		}
	}
	r.fail("a varint of more than 64 bits")
	return 0
}

// text reads a length and so many bytes. They are not copied.
func (r *reading) text() []byte {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.fail("a text longer than what is left")
		return nil
	}
	text := r.rest[:n:n]
	r.rest = r.rest[n:]
	return text
}
