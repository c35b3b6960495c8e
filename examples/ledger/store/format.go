package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// A copy is a text file: a header and then batches, a line each, which is the
// checksum of the rest of the line and JSON. A batch is written by one write
// and synced before the next one, so that a crash can only leave the last line
// unfinished.
const formatVersion = 1

// header is the first line of a copy.
type header struct {
	Format  int    `json:"ledger"`
	Key     string `json:"key"`
	Epoch   uint64 `json:"epoch"`
	Entries uint64 `json:"entries"` // how many were published with the copy; a crash can't have torn those
}

// publishedBatch is how many entries share a line of a published copy.
const publishedBatch = 256

const checksumDigits = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeLine(content any) ([]byte, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encode a line: %w", err)
	}
	line := fmt.Appendf(make([]byte, 0, len(text)+checksumDigits+2), "%0*x ", checksumDigits, crc32.Checksum(text, castagnoli))
	return append(append(line, text...), '\n'), nil
}

// decodeLine returns the JSON of a line without its end, or false if the
// checksum does not match.
func decodeLine(line []byte) ([]byte, bool) {
	if len(line) < checksumDigits+1 {
		return nil, false
	}
	text := line[checksumDigits+1:]
	want := fmt.Appendf(nil, "%0*x ", checksumDigits, crc32.Checksum(text, castagnoli))
	return text, bytes.Equal(want, line[:checksumDigits+1])
}

// encodeCopy returns a complete copy with the given entries.
func encodeCopy(key string, epoch uint64, entries []Entry) ([]byte, error) {
	data, err := encodeLine(header{Format: formatVersion, Key: key, Epoch: epoch, Entries: uint64(len(entries))})
	if err != nil {
		return nil, err
	}
	for len(entries) > 0 {
		n := min(len(entries), publishedBatch)
		line, err := encodeLine(entries[:n])
		if err != nil {
			return nil, err
		}
		data, entries = append(data, line...), entries[n:]
	}
	return data, nil
}
