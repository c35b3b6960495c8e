package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
)

// The stable values are kept as one, under one key and one checksum. Each under
// its own key could be lost without a trace, by a flipped bit in the key, and a
// vote that is lost is a vote that can be cast again.
var keyValues = []byte("tenure")

// valuesVersion starts the encoding.
const valuesVersion = 1

// The kinds of stable values, with which each begins: a number is never read as
// bytes.
const (
	kindBytes  = 'b'
	kindNumber = 'n'
)

// encodeValues encodes values as
//
//	version | count | (key length | key | value length | value)... | CRC-32C
//
// with the keys in order, and varints for count and lengths.
func encodeValues(values map[string][]byte) []byte {
	b := []byte{valuesVersion}
	b = binary.AppendUvarint(b, uint64(len(values)))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		b = binary.AppendUvarint(b, uint64(len(key)))
		b = append(b, key...)
		b = binary.AppendUvarint(b, uint64(len(values[key])))
		b = append(b, values[key]...)
	}
	return appendSum(b)
}

// decodeValues decodes exactly what encodeValues made.
func decodeValues(sealed []byte) (map[string][]byte, error) {
	if len(sealed) < 4 {
		return nil, fmt.Errorf("they have only %d bytes", len(sealed))
	}
	b, sum := sealed[:len(sealed)-4], sealed[len(sealed)-4:]
	if binary.BigEndian.Uint32(sum) != crc32.Checksum(b, castagnoli) {
		return nil, errBadSeal
	}
	if len(b) == 0 || b[0] != valuesVersion {
		return nil, fmt.Errorf("they are of an unknown version: %x", shorten(b))
	}
	count, n := binary.Uvarint(b[1:])
	if n <= 0 {
		return nil, errValuesShort
	}
	values := make(map[string][]byte)
	for b = b[1+n:]; count > 0; count-- {
		var key, value []byte
		var err error
		if key, b, err = cutField(b); err != nil {
			return nil, err
		}
		if value, b, err = cutField(b); err != nil {
			return nil, err
		}
		values[string(key)] = value
	}
	if !bytes.Equal(sealed, encodeValues(values)) {
		return nil, errors.New("they are not encoded as they should be")
	}
	return values, nil
}

var errValuesShort = errors.New("they end too soon")

// cutField returns the field that b begins with, and the rest.
func cutField(b []byte) (field, rest []byte, err error) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) {
		return nil, nil, errValuesShort
	}
	b = b[n:]
	return b[:length:length], b[length:], nil
}
