package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/iotest"
)

// The bytes of a frame must not change: nodes of different versions meet.
func TestFrameGolden(t *testing.T) {
	golden := map[string]frame{
		"00000007" + "01" + "ac02" + "0301" + "6869": {kind: kindRequest, stream: 300, op: 3, flags: 1, payload: []byte("hi")},
		"00000004" + "02" + "05" + "6f6b":            {kind: kindAnswer, stream: 5, payload: []byte("ok")},
		"00000002" + "03" + "05":                     {kind: kindCancel, stream: 5},
		"00000001" + "04":                            {kind: kindPing},
		"00000001" + "05":                            {kind: kindPong},
		"00000003" + "06" + "05" + "78":              {kind: kindVoid, stream: 5, payload: []byte("x")},
	}
	for want, f := range golden {
		if got := hex.EncodeToString(appendFrame(nil, f)); got != want {
			t.Errorf("%+v: got %s, want %s", f, got, want)
		}
	}
}

// Frames come out as they went in, whatever pieces the connection delivers
// them in, and the memory for a large one is given back.
func TestFrameReader(t *testing.T) {
	var sent []frame
	for i, size := range []int{0, 1, 100, readerBytes - 20, readerBytes, 5*readerBytes + 3, 10, 3 * readerBytes, 0, 7} {
		sent = append(sent, frame{kind: kindRequest, stream: uint64(i), op: 1, flags: 2, payload: bytes.Repeat([]byte{byte(i)}, size)})
	}
	var stream []byte
	for _, f := range sent {
		stream = appendFrame(stream, f)
	}
	readers := map[string]func(io.Reader) io.Reader{
		"whole":    func(r io.Reader) io.Reader { return r },
		"halves":   iotest.HalfReader,
		"bytes":    iotest.OneByteReader,
		"with EOF": iotest.DataErrReader,
	}
	for name, pieces := range readers {
		r := newFrameReader(pieces(bytes.NewReader(stream)), MaxRequest, func() {})
		for i, want := range sent {
			got, err := r.next()
			if err != nil {
				t.Fatalf("%s: frame %d: %v", name, i, err)
			}
			if !bytes.Equal(got.payload, want.payload) || got.stream != want.stream {
				t.Fatalf("%s: frame %d differs", name, i)
			}
		}
		if _, err := r.next(); err != io.EOF {
			t.Errorf("%s: at the end: %v", name, err)
		}
		if len(r.buf) > readerBytes {
			t.Errorf("%s: kept a buffer of %d bytes", name, len(r.buf))
		}
	}
}

// A stream that ends within a frame is not taken for one that ended in order,
// and a length alone costs no memory.
func TestCutFrame(t *testing.T) {
	whole := appendFrame(nil, frame{kind: kindAnswer, stream: 1, payload: make([]byte, 100)})
	for cut := 1; cut < len(whole); cut++ {
		r := newFrameReader(bytes.NewReader(whole[:cut]), MaxRequest, func() {})
		if _, err := r.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	r := newFrameReader(bytes.NewReader([]byte{3, 0, 0, 0, 2}), MaxAnswer, func() {})
	if _, err := r.next(); err == nil || len(r.buf) > readerBytes {
		t.Errorf("an announced frame: %v, buffer of %d bytes", err, len(r.buf))
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, frame{kind: kindPing}), frame{kind: kindRequest, stream: 9, op: 1, payload: []byte("x")}))
	f.Add([]byte{0, 0, 0, 2, 3, 0x80})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, p []byte) {
		r := newFrameReader(iotest.HalfReader(bytes.NewReader(p)), 1<<16, func() {})
		for {
			got, err := r.next()
			if err != nil {
				return
			}
			got.payload = bytes.Clone(got.payload)
			again, err := parseFrame(appendFrame(nil, got)[frameLength:])
			if len(again.payload) == 0 {
				again.payload = got.payload
			}
			if err != nil || !reflect.DeepEqual(got, again) {
				t.Fatalf("read %+v, again %+v, %v", got, again, err)
			}
		}
	})
}
