package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The versions of this protocol that this program speaks. Two ends speak the
// lower of their newest ones.
const (
	Version    = 1
	MinVersion = 1
)

// Magic is how every hello begins. Its first byte tells the protocol from
// HTTP, which begins with a capital letter, and from TLS, which begins with
// 0x16.
const Magic = "\x01tnr"

const (
	maxHello    = 4 << 10 // bytes of a hello after its length
	maxID       = 256     // of a node id, a cluster id or an incarnation
	maxAddr     = 512
	maxReason   = 1 << 10
	helloLength = len(Magic) + 2
)

// A Purpose says what a connection is for.
type Purpose byte

// The purposes.
const (
	PurposeRaft Purpose = 1 // the stream of Raft's transport follows
	PurposeAPI  Purpose = 2 // frames follow
)

// String returns the purpose's name.
func (p Purpose) String() string {
	switch p {
	case PurposeRaft:
		return "raft"
	case PurposeAPI:
		return "api"
	}
	return fmt.Sprintf("purpose %d", byte(p))
}

// A Hello says who an end of a connection is. Both ends send one before
// anything else.
type Hello struct {
	Purpose     Purpose
	ClusterID   string // "" for a client, and for a node without a cluster
	NodeID      string // "" for a client
	Incarnation string // "" for a client
	Addr        string // the advertised address, "" for a client
	// EntryVersion is the newest version of a log entry that this end knows.
	EntryVersion uint64
	// ProtocolVersion is the newest that this end speaks. Encoding sets it.
	ProtocolVersion uint64

	// ExpectID and ExpectIncarnation name whom a dialler means to reach, "" for
	// anyone. They have no meaning in an answer.
	ExpectID          string
	ExpectIncarnation string
}

// The numbers of a hello's fields. The verdict is in an answer only.
const (
	helloVersion = iota + 1
	helloPurpose
	helloCluster
	helloNode
	helloIncarnation
	helloAddr
	helloEntryVersion
	helloExpectID
	helloExpectIncarnation
	helloCode
	helloMessage
)

// appendHello appends a hello as it goes on the wire, with a verdict if it
// answers one.
func appendHello(dst []byte, h Hello, refused *Refused) []byte {
	dst = append(dst, Magic...)
	dst = append(dst, 0, 0)
	start := len(dst)
	dst = appendNumber(dst, helloVersion, Version)
	dst = appendNumber(dst, helloPurpose, uint64(h.Purpose))
	dst = appendText(dst, helloCluster, h.ClusterID)
	dst = appendText(dst, helloNode, h.NodeID)
	dst = appendText(dst, helloIncarnation, h.Incarnation)
	dst = appendText(dst, helloAddr, h.Addr)
	dst = appendNumber(dst, helloEntryVersion, h.EntryVersion)
	dst = appendText(dst, helloExpectID, h.ExpectID)
	dst = appendText(dst, helloExpectIncarnation, h.ExpectIncarnation)
	if refused != nil {
		dst = appendNumber(dst, helloCode, uint64(refused.Code))
		dst = appendText(dst, helloMessage, shorten(refused.Message, maxReason))
	}
	binary.BigEndian.PutUint16(dst[start-2:], uint16(len(dst)-start))
	return dst
}

// readHello reads a hello, and not a byte more.
func readHello(from io.Reader) (Hello, *Refused, error) {
	head := make([]byte, helloLength)
	if _, err := io.ReadFull(from, head); err != nil {
		return Hello{}, nil, err
	}
	if string(head[:len(Magic)]) != Magic {
		return Hello{}, nil, fmt.Errorf("%w: no hello, but %q", ErrProtocol, head)
	}
	size := binary.BigEndian.Uint16(head[len(Magic):])
	if size > maxHello {
		return Hello{}, nil, fmt.Errorf("%w: hello of %d bytes, at most %d are allowed", ErrProtocol, size, maxHello)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(from, body); err != nil {
		return Hello{}, nil, err
	}
	h, refused, err := decodeHello(body)
	if err != nil {
		return Hello{}, nil, fmt.Errorf("%w: hello: %w", ErrProtocol, err)
	}
	return h, refused, nil
}

func decodeHello(body []byte) (Hello, *Refused, error) {
	var h Hello
	var refused Refused
	c := cursor{rest: body}
	for c.next() {
		switch c.number {
		case helloVersion:
			h.ProtocolVersion = c.value
		case helloPurpose:
			h.Purpose = Purpose(min(c.value, 255))
		case helloCluster:
			h.ClusterID = c.text(maxID)
		case helloNode:
			h.NodeID = c.text(maxID)
		case helloIncarnation:
			h.Incarnation = c.text(maxID)
		case helloAddr:
			h.Addr = c.text(maxAddr)
		case helloEntryVersion:
			h.EntryVersion = c.value
		case helloExpectID:
			h.ExpectID = c.text(maxID)
		case helloExpectIncarnation:
			h.ExpectIncarnation = c.text(maxID)
		case helloCode:
			refused.Code = Code(min(c.value, 255))
		case helloMessage:
			refused.Message = c.text(maxReason)
		}
	}
	if c.err != nil {
		return Hello{}, nil, c.err
	}
	if refused.Code == CodeOK {
		return h, nil, nil
	}
	refused.Peer, refused.ByPeer = h, true
	return h, &refused, nil
}
