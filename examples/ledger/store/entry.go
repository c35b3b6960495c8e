package store

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"example.com/tenure"
)

// Bounds of an entry.
const (
	MaxIDBytes   = 128       // an id has 1 to MaxIDBytes bytes
	MaxTextBytes = 64 * 1024 // a text has 0 to MaxTextBytes bytes
)

// An Entry is one line of a ledger. It never changes.
type Entry struct {
	Seq   uint64 `json:"seq"`   // its place in the ledger, from 1 without a gap
	Epoch uint64 `json:"epoch"` // of the tenure that wrote it first
	ID    string `json:"id"`    // the writer's own name for it, unique in the ledger
	Text  string `json:"text"`
}

// validate reports what no ledger can hold, as a [tenure.InvalidError].
func (e Entry) validate(key string) error {
	if len(e.ID) == 0 || len(e.ID) > MaxIDBytes || !utf8.ValidString(e.ID) {
		return &tenure.InvalidError{Key: key, Field: "id", Value: strconv.Quote(shorten(e.ID)),
			Bound: fmt.Sprintf("1 to %d bytes of UTF-8", MaxIDBytes)}
	}
	if len(e.Text) > MaxTextBytes || !utf8.ValidString(e.Text) {
		return &tenure.InvalidError{Key: key, Field: "text", Value: strconv.Quote(shorten(e.Text)),
			Bound: fmt.Sprintf("at most %d bytes of UTF-8", MaxTextBytes)}
	}
	return nil
}

func shorten(s string) string { return s[:min(len(s), 32)] }
