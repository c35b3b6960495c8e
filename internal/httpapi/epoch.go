package httpapi

import (
	"fmt"
	"strconv"
)

// An Epoch is a tenure's epoch, or a forgotten one. In JSON it is a number up
// to 2^53 and a string of digits beyond, because many readers of JSON keep a
// number as a float, which would silently name another tenure. A string is read
// at any size.
type Epoch uint64

// exactNumber is the largest integer up to which a float holds all of them.
const exactNumber = 1 << 53

// MarshalJSON implements [encoding/json.Marshaler].
func (e Epoch) MarshalJSON() ([]byte, error) {
	if e <= exactNumber {
		return strconv.AppendUint(nil, uint64(e), 10), nil
	}
	return strconv.AppendQuote(nil, strconv.FormatUint(uint64(e), 10)), nil
}

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (e *Epoch) UnmarshalJSON(raw []byte) error {
	digits := raw
	quoted := len(raw) > 1 && raw[0] == '"' && raw[len(raw)-1] == '"'
	if quoted {
		digits = raw[1 : len(raw)-1]
	}
	n, err := strconv.ParseUint(string(digits), 10, 64)
	switch {
	case err != nil:
		return fmt.Errorf("epoch %.40s: must be a number from 0 to 2^53, or a string of digits", raw)
	case !quoted && n > exactNumber:
		return fmt.Errorf("epoch %d: must be written as a string: a number beyond 2^53 may have been rounded", n)
	}
	*e = Epoch(n)
	return nil
}
