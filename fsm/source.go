package fsm

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A source reads a snapshot from a reader, a buffer at a time, and keeps the
// CRC32C of what was read. After a failure it reads zeros.
type source struct {
	from   io.Reader
	buffer []byte
	at     int // what was read of the buffer
	summed int // what of the buffer is in the crc
	crc    uint32
	err    error
}

func newSource(r io.Reader) *source {
	return &source{from: r, buffer: make([]byte, 0, 64<<10)}
}

func (s *source) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
	}
}

// sum returns the CRC32C of all that was read.
func (s *source) sum() uint32 {
	s.crc = crc32.Update(s.crc, castagnoli, s.buffer[s.summed:s.at])
	s.summed = s.at
	return s.crc
}

// fill reads more into the empty buffer, and reports whether there was more.
func (s *source) fill() bool {
	if s.err != nil {
		return false
	}
	s.sum()
	n, err := io.ReadAtLeast(s.from, s.buffer[:cap(s.buffer)], 1)
	s.buffer, s.at, s.summed = s.buffer[:n], 0, 0
	if n == 0 && err != nil && !errors.Is(err, io.EOF) {
		s.err = fmt.Errorf("read: %w", err)
	}
	return n > 0
}

// atEnd reports whether nothing is left to read.
func (s *source) atEnd() bool {
	return s.err == nil && s.at == len(s.buffer) && !s.fill() && s.err == nil
}

// byte reads one byte.
func (s *source) byte() byte {
	if s.at == len(s.buffer) && !s.fill() || s.err != nil {
		s.fail("it ends too early")
		return 0
	}
	b := s.buffer[s.at]
	s.at++
	return b
}

// bytes fills a buffer and returns it.
func (s *source) bytes(into []byte) []byte {
	for rest := into; len(rest) > 0; {
		if s.at == len(s.buffer) && !s.fill() || s.err != nil {
			s.fail("it ends too early")
			clear(rest)
			break
		}
		n := copy(rest, s.buffer[s.at:])
		s.at += n
		rest = rest[n:]
	}
	return into
}

// uvarint reads a varint, and fails on one that is longer than it need be.
func (s *source) uvarint() uint64 {
	var x uint64
	for shift := 0; shift < 64; shift += 7 {
		b := s.byte()
		if shift == 63 && b > 1 {
			break
		}
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if b == 0 && shift > 0 {
				s.fail("a varint longer than it need be")
			}
			return x
		}
	}
	s.fail("a varint of more than 64 bits")
	return 0
}

// text reads a length and so many bytes, at most as many as buffer holds.
func (s *source) text(buffer []byte) []byte {
	n := s.uvarint()
	if n > uint64(len(buffer)) {
		s.fail("a text of %d bytes: at most %d are allowed", n, len(buffer))
		return nil
	}
	return s.bytes(buffer[:n])
}
