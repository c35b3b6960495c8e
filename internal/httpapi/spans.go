package httpapi

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"example.com/tenure"
)

// spans are the lengths of time in a request, and what of it is checked before
// its items are.
type spans struct {
	ttl, wait time.Duration
}

// spans checks what all items of a request have in common. A TTL above the
// cluster's largest is up to the backend, which has the last word there.
func (s *server) spans(owner string, ttlMillis, waitMillis int64) (spans, error) {
	if err := tenure.ValidateOwner(owner); err != nil {
		return spans{}, err
	}
	if ttlMillis < tenure.MinTTL.Milliseconds() || ttlMillis > tenure.MaxTTL.Milliseconds() {
		return spans{}, s.badTTL(ttlMillis)
	}
	if most := tenure.MaxWait.Milliseconds(); waitMillis < 0 || waitMillis > most {
		return spans{}, invalid("wait_ms", strconv.FormatInt(waitMillis, 10), fmt.Sprintf("from 0 to %d", most))
	}
	return spans{ttl: time.Duration(ttlMillis) * time.Millisecond, wait: time.Duration(waitMillis) * time.Millisecond}, nil
}

func (s *server) badTTL(millis int64) error {
	largest := s.backend.Status().LargestTTL
	if largest == 0 {
		largest = tenure.MaxTTL
	}
	return invalid("ttl_ms", strconv.FormatInt(millis, 10), fmt.Sprintf("from %d to %d", tenure.MinTTL.Milliseconds(), largest.Milliseconds()))
}

// named returns the error of an item with the API's names and units.
func (s *server) named(spans spans, err error) error {
	var malformed *tenure.InvalidError
	if errors.As(err, &malformed) && malformed.Field == "ttl" {
		return about(malformed.Key, s.badTTL(spans.ttl.Milliseconds()))
	}
	return err
}

// about adds the key to an error that the key is not the reason of.
func about(key string, err error) error {
	var malformed *tenure.InvalidError
	if tenure.ValidateKey(key) == nil && errors.As(err, &malformed) {
		malformed.Key = key
	}
	return err
}
