package wire

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Messages are made of fields, each a tag, which is number<<1 | form, and a
// value: a varint (form 0) or a length and bytes (form 1). Zero values are left
// out, tags never go down, and a reader passes over numbers that it doesn't
// know, so that a later version can add some.

const (
	formNumber = 0
	formBytes  = 1
)

func appendNumber(dst []byte, number int, value uint64) []byte {
	if value == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(number)<<1|formNumber)
	return binary.AppendUvarint(dst, value)
}

func appendBool(dst []byte, number int, value bool) []byte {
	if !value {
		return dst
	}
	return appendNumber(dst, number, 1)
}

func appendText[T string | []byte](dst []byte, number int, value T) []byte {
	if len(value) == 0 {
		return dst
	}
	return appendPart(dst, number, value)
}

// appendPart is appendText for a value whose presence means something even if
// it is empty.
func appendPart[T string | []byte](dst []byte, number int, value T) []byte {
	dst = binary.AppendUvarint(dst, uint64(number)<<1|formBytes)
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}

// appendDuration loses nothing, and is short for whole milliseconds.
func appendDuration(dst []byte, number int, value time.Duration) []byte {
	return appendNumber(dst, number, packDuration(value))
}

// packDuration returns a duration in milliseconds<<1, or in nanoseconds<<1 | 1
// if it isn't whole. A negative one, which no message holds, becomes 0.
func packDuration(d time.Duration) uint64 {
	switch {
	case d < 0:
		return 0
	case d%time.Millisecond == 0:
		return uint64(d/time.Millisecond) << 1
	default:
		return uint64(d)<<1 | 1
	}
}

func unpackDuration(v uint64) (time.Duration, error) {
	if v&1 == 1 {
		return time.Duration(v >> 1), nil
	}
	const most = uint64(1<<63-1) / uint64(time.Millisecond)
	if v>>1 > most {
		return 0, fmt.Errorf("%w: a duration of %d ms", ErrMalformed, v>>1)
	}
	return time.Duration(v>>1) * time.Millisecond, nil
}
