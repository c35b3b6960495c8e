package wire

import (
	"encoding/binary"
	"fmt"
)

// A frame is, on the wire, its length (of what follows, 4 bytes, big endian),
// its kind (1 byte), its stream (a varint, but not in a ping or a pong), in a
// request the operation and the flags (1 byte each), and the payload.
type frame struct {
	kind      kind
	stream    uint64
	op, flags byte
	payload   []byte
}

type kind byte

const (
	kindRequest kind = iota + 1
	kindAnswer
	kindCancel // the caller no longer waits for the answer
	kindPing
	kindPong
	kindVoid // a request that its caller withdrew before it left; to be passed over
)

const (
	frameLength = 4                             // bytes of the length
	frameHead   = 1 + binary.MaxVarintLen64 + 2 // most bytes between length and payload
	kindAt      = frameLength                   // where in a frame its kind is
)

// appendFrame appends f as it goes on the wire.
func appendFrame(dst []byte, f frame) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, byte(f.kind))
	if f.kind != kindPing && f.kind != kindPong {
		dst = binary.AppendUvarint(dst, f.stream)
	}
	if f.kind == kindRequest {
		dst = append(dst, f.op, f.flags)
	}
	dst = append(dst, f.payload...)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-frameLength))
	return dst
}

// parseFrame reads what follows a frame's length. The payload is part of body.
func parseFrame(body []byte) (frame, error) {
	f := frame{kind: kind(body[0])}
	rest := body[1:]
	switch f.kind {
	case kindPing, kindPong:
		if len(rest) > 0 {
			return frame{}, fmt.Errorf("%w: a ping with %d bytes", ErrProtocol, len(rest))
		}
		return f, nil
	case kindRequest, kindAnswer, kindCancel, kindVoid:
	default:
		return frame{}, fmt.Errorf("%w: frame of unknown kind %d", ErrProtocol, f.kind)
	}
	stream, n := binary.Uvarint(rest)
	if n <= 0 {
		return frame{}, fmt.Errorf("%w: frame without a stream", ErrProtocol)
	}
	f.stream, rest = stream, rest[n:]
	if f.kind == kindRequest {
		if len(rest) < 2 {
			return frame{}, fmt.Errorf("%w: request without an operation", ErrProtocol)
		}
		f.op, f.flags, rest = rest[0], rest[1], rest[2:]
	}
	if f.kind == kindCancel && len(rest) > 0 {
		return frame{}, fmt.Errorf("%w: a cancel with %d bytes", ErrProtocol, len(rest))
	}
	f.payload = rest
	return f, nil
}
