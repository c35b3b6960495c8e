package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// readerBytes is the size of a connection's read buffer. One read of the
// connection brings many small frames; for a larger frame the buffer grows,
// and shrinks again after it.
const readerBytes = 32 << 10

// A frameReader cuts what comes from a connection into frames.
type frameReader struct {
	from       io.Reader
	most       int // bytes of a payload
	heard      func()
	buf        []byte
	start, end int // of what is in buf and not yet a frame
}

// newFrameReader returns a reader of frames with payloads of up to most bytes,
// which calls heard whenever bytes have come.
func newFrameReader(from io.Reader, most int, heard func()) *frameReader {
	return &frameReader{from: from, most: most, heard: heard, buf: make([]byte, readerBytes)}
}

// next blocks until there is a frame. Its payload is good until the call after.
// The error is io.EOF if the other end closed between two frames.
func (r *frameReader) next() (frame, error) {
	if err := r.fill(frameLength); err != nil {
		return frame{}, err
	}
	size := binary.BigEndian.Uint32(r.buf[r.start:])
	if size == 0 || size > uint32(r.most+frameHead) {
		return frame{}, fmt.Errorf("%w: frame of %d bytes, at most %d are allowed", ErrProtocol, size, r.most+frameHead)
	}
	whole := frameLength + int(size)
	if err := r.fill(whole); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	body := r.buf[r.start+frameLength : r.start+whole]
	r.start += whole
	return parseFrame(body)
}

// fill reads until there are n bytes.
func (r *frameReader) fill(n int) error {
	if r.end-r.start >= n {
		return nil
	}
	r.makeRoom(n)
	for r.end-r.start < n {
		r.growToward(n)
		got, err := r.from.Read(r.buf[r.end:])
		r.end += got
		switch {
		case got > 0:
			r.heard()
		case err == io.EOF && r.end > r.start:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	return nil
}

// makeRoom moves what is left to the front of the buffer, and gives a buffer
// that has grown back once it is no longer needed.
func (r *frameReader) makeRoom(n int) {
	to := r.buf
	if len(r.buf) > readerBytes && n <= readerBytes && r.end-r.start <= readerBytes {
		to = make([]byte, readerBytes)
	}
	r.end = copy(to, r.buf[r.start:r.end])
	r.start, r.buf = 0, to
}

// growToward makes a full buffer larger. It grows with what has come, not with
// what was announced, so that an announcement alone costs no memory.
func (r *frameReader) growToward(n int) {
	if r.end < len(r.buf) {
		return
	}
	larger := make([]byte, min(2*len(r.buf), n))
	r.end = copy(larger, r.buf[r.start:r.end])
	r.start, r.buf = 0, larger
}
