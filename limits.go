package tenure

import (
	"fmt"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what a caller may ask for. A value outside is refused as invalid
// before anything is sent; it is never clamped silently.
const (
	MaxKeyBytes       = 512 // a key has 1 to MaxKeyBytes bytes
	MaxOwnerBytes     = 256 // an owner has 1 to MaxOwnerBytes bytes
	MaxRequestIDBytes = 64  // a request id has 1 to MaxRequestIDBytes bytes

	MinTTL = 100 * time.Millisecond // the shortest TTL
	MaxTTL = 24 * time.Hour         // the longest TTL that any cluster may allow

	// DefaultLargestTTL is the largest TTL of a cluster whose founder names
	// none.
	DefaultLargestTTL = time.Hour

	MaxWait = 24 * time.Hour // the longest an acquire may wait in line

	// MaxEpoch is the highest epoch that a tenure can have. A command that
	// would need a higher one is invalid.
	MaxEpoch = 1<<63 - 1
)

// ValidateKey reports, as an [*InvalidError], a key that is empty, longer than
// [MaxKeyBytes], not UTF-8, or contains a control character.
func ValidateKey(key string) error {
	return validateText("key", key, MaxKeyBytes)
}

// ValidateOwner reports, as an [*InvalidError], an owner that is empty, longer
// than [MaxOwnerBytes], not UTF-8, or contains a control character.
func ValidateOwner(owner string) error {
	return validateText("owner", owner, MaxOwnerBytes)
}

// ValidateRequestID reports, as an [*InvalidError], a request id that is
// empty, longer than [MaxRequestIDBytes], not UTF-8, or contains a control
// character.
func ValidateRequestID(id string) error {
	return validateText("request_id", id, MaxRequestIDBytes)
}

// ValidateTTL reports, as an [*InvalidError], a TTL that is not a whole number
// of milliseconds from [MinTTL] to largest.
func ValidateTTL(ttl, largest time.Duration) error {
	if ttl < MinTTL || ttl > largest || ttl%time.Millisecond != 0 {
		bound := fmt.Sprintf("a whole number of milliseconds from %v to %v", MinTTL, largest)
		return &InvalidError{Field: "ttl", Value: ttl.String(), Bound: bound}
	}
	return nil
}

// ValidateMargin reports, as an [*InvalidError], a margin that is negative or
// not less than ttl.
func ValidateMargin(margin, ttl time.Duration) error {
	if margin < 0 || margin >= ttl {
		return &InvalidError{Field: "margin", Value: margin.String(), Bound: fmt.Sprintf("from 0s to less than the ttl, %v", ttl)}
	}
	return nil
}

// ValidateEpoch reports, as an [*InvalidError], an epoch that no tenure can
// have: 0, or more than [MaxEpoch].
func ValidateEpoch(epoch uint64) error {
	if epoch == 0 || epoch > MaxEpoch {
		return &InvalidError{Field: "epoch", Value: strconv.FormatUint(epoch, 10), Bound: fmt.Sprintf("from 1 to %d", uint64(MaxEpoch))}
	}
	return nil
}

// ValidateWait reports, as an [*InvalidError], a wait that is negative or more
// than [MaxWait].
func ValidateWait(wait time.Duration) error {
	if wait < 0 || wait > MaxWait {
		return &InvalidError{Field: "wait", Value: wait.String(), Bound: fmt.Sprintf("from 0s to %v", MaxWait)}
	}
	return nil
}

func validateText(field, text string, most int) error {
	if len(text) > 0 && len(text) <= most && isPlain(text) {
		return nil
	}
	bound := fmt.Sprintf("1 to %d bytes of UTF-8 without control characters", most)
	switch {
	case text == "":
		return &InvalidError{Field: field, Value: `""`, Bound: bound}
	case len(text) > most:
		return &InvalidError{Field: field, Value: fmt.Sprintf("%d bytes, %.32q...", len(text), text[:32]), Bound: bound}
	case !utf8.ValidString(text) || hasControl(text):
		return &InvalidError{Field: field, Value: strconv.Quote(text), Bound: bound}
	}
	return nil
}

// isPlain reports whether text is printable ASCII, as nearly all names are: a
// batch has thousands of them to check.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

func hasControl(text string) bool {
	for _, r := range text {
		if unicode.IsControl(r) {
			return true
		}
	}
	return false
}
