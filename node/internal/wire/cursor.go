package wire

import (
	"encoding/binary"
	"fmt"
	"time"
	"unicode/utf8"
)

// A cursor reads a message. Its first error sticks, and everything read after
// it is zero, so that a decoder need look only once, at the end.
type cursor struct {
	rest []byte
	last uint64 // tag of the field before
	err  error

	// The present field:
	number int
	value  uint64 // of a number
	bytes  []byte // of a text; part of the message
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
	}
	c.rest = nil
}

// next reads a field, and reports whether there was one.
func (c *cursor) next() bool {
	if c.err != nil || len(c.rest) == 0 {
		return false
	}
	tag := c.uvarint()
	if tag < c.last || tag>>1 == 0 || tag>>1 > 1<<20 {
		c.fail("field %d after field %d", tag>>1, c.last>>1)
		return false
	}
	c.last, c.number = tag, int(tag>>1)
	c.value, c.bytes = 0, nil
	if tag&1 == formNumber {
		c.value = c.uvarint()
	} else {
		c.bytes = c.take(c.uvarint())
	}
	return c.err == nil
}

// uvarint reads a varint in its shortest form.
func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 || n > 1 && c.rest[n-1] == 0 {
		c.fail("bad varint")
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

// varint reads a signed varint in its shortest form.
func (c *cursor) varint() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		c.fail("%d bytes of %d", n, len(c.rest))
		return nil
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

func (c *cursor) byte() byte {
	b := c.take(1)
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

// text copies the present field, of at most so many bytes.
func (c *cursor) text(most int) string { return c.checked(c.bytes, most) }

func (c *cursor) checked(b []byte, most int) string {
	if len(b) > most || !utf8.Valid(b) {
		c.fail("field %d: %d bytes, at most %d of UTF-8 are allowed", c.number, len(b), most)
		return ""
	}
	return string(b)
}

func (c *cursor) duration() time.Duration { return c.unpacked(c.value) }

func (c *cursor) unpacked(v uint64) time.Duration {
	d, err := unpackDuration(v)
	if err != nil && c.err == nil {
		c.err, c.rest = err, nil
	}
	return d
}

// flag reads the present field as a bool.
func (c *cursor) flag() bool {
	if c.value > 1 {
		c.fail("field %d: %d is no bool", c.number, c.value)
	}
	return c.value == 1
}
