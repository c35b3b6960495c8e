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

// appendSum appends the checksum of b to it.
func appendSum(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// shorten keeps damaged bytes from filling a message.
func shorten(b []byte) []byte {
	if len(b) > 16 {
		return b[:16]
	}
	return b
}
