package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/hashicorp/raft"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealVersion starts the extensions of every entry. An entry of another
// version is refused: it comes from a program that seals differently.
const sealVersion = 1

// sealSize is the length of an entry's seal: the version and a CRC-32C.
const sealSize = 1 + 4

var (
	errNoSeal  = errors.New("it has no checksum")
	errBadSeal = errors.New("its checksum does not match")
)

// sealEntry gives an entry its checksum, in Extensions. It covers the index and
// the term, so that an entry in another's place is noticed; it does not cover
// the time of the append, which means nothing.
func sealEntry(log *raft.Log) {
	seal := make([]byte, sealSize)
	seal[0] = sealVersion
	binary.BigEndian.PutUint32(seal[1:], sumEntry(log))
	log.Extensions = seal
}

// checkSeal reports an entry that is not as it was sealed.
func checkSeal(log *raft.Log) error {
	seal := log.Extensions
	switch {
	case len(seal) == 0:
		return errNoSeal
	case len(seal) != sealSize || seal[0] != sealVersion:
		return fmt.Errorf("its checksum is of an unknown kind: %x", shorten(seal))
	case binary.BigEndian.Uint32(seal[1:]) != sumEntry(log):
		return errBadSeal
	}
	return nil
}

func sumEntry(log *raft.Log) uint32 {
	var head [17]byte
	binary.BigEndian.PutUint64(head[0:], log.Index)
	binary.BigEndian.PutUint64(head[8:], log.Term)
	head[16] = byte(log.Type)
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, log.Data)
}

// The kinds of stable values. They are part of the checksum, so that a number
// is never read as bytes.
const (
	stableBytes  = 'b'
	stableNumber = 'n'
)

// sealValue returns a stable value with its checksum behind it, which covers
// the key: a value under another's key is noticed.
func sealValue(kind byte, key, value []byte) []byte {
	sealed := make([]byte, len(value)+4)
	copy(sealed, value)
	binary.BigEndian.PutUint32(sealed[len(value):], sumValue(kind, key, value))
	return sealed
}

// openValue returns the value in what sealValue made.
func openValue(kind byte, key, sealed []byte) ([]byte, error) {
	if len(sealed) < 4 {
		return nil, fmt.Errorf("it has %d bytes, too few for a checksum", len(sealed))
	}
	value, sum := sealed[:len(sealed)-4], sealed[len(sealed)-4:]
	if binary.BigEndian.Uint32(sum) != sumValue(kind, key, value) {
		return nil, errBadSeal
	}
	return value, nil
}

func sealNumber(key []byte, n uint64) []byte {
	return sealValue(stableNumber, key, binary.BigEndian.AppendUint64(nil, n))
}

func openNumber(key, sealed []byte) (uint64, error) {
	value, err := openValue(stableNumber, key, sealed)
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, fmt.Errorf("it has %d bytes instead of 8", len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}

func sumValue(kind byte, key, value []byte) uint32 {
	head := make([]byte, 0, 5+len(key))
	head = append(head, kind)
	head = binary.BigEndian.AppendUint32(head, uint32(len(key)))
	head = append(head, key...)
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, value)
}

// shorten keeps damaged bytes from filling a message.
func shorten(b []byte) []byte {
	if len(b) > 16 {
		return b[:16]
	}
	return b
}
