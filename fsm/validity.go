package fsm

import (
	"time"

	"example.com/tenure"
)

// invalidAcquire says what is wrong with the values of an acquire, "" if
// nothing is.
func (s *State) invalidAcquire(c *item) string {
	switch {
	case !plain(c.key, tenure.MaxKeyBytes) && tenure.ValidateKey(string(c.key)) != nil:
		return tenure.ValidateKey(string(c.key)).Error()
	case !plain(c.owner, tenure.MaxOwnerBytes) && tenure.ValidateOwner(string(c.owner)) != nil:
		return tenure.ValidateOwner(string(c.owner)).Error()
	case !plain(c.id, tenure.MaxRequestIDBytes) && tenure.ValidateRequestID(string(c.id)) != nil:
		return tenure.ValidateRequestID(string(c.id)).Error()
	case !s.validTTL(c.ttl):
		return s.invalidTTL(c.ttl)
	}
	return ""
}

// invalidTenure says what is wrong with how a command names a tenure, "" if
// nothing is. A command that names a tenure which stands has been compared with
// values that were checked, so it is only asked for those that don't.
func invalidTenure(c *item) string {
	if err := tenure.ValidateKey(string(c.key)); err != nil {
		return err.Error()
	}
	if err := tenure.ValidateOwner(string(c.owner)); err != nil {
		return err.Error()
	}
	if len(c.id) > 0 {
		if err := tenure.ValidateRequestID(string(c.id)); err != nil {
			return err.Error()
		}
		return ""
	}
	if err := tenure.ValidateEpoch(c.epoch); err != nil {
		return err.Error()
	}
	return ""
}

// validTTL reports whether the cluster allows the TTL.
func (s *State) validTTL(ttl time.Duration) bool {
	return ttl >= tenure.MinTTL && ttl <= s.largest && ttl%time.Millisecond == 0
}

// invalidTTL says what is wrong with a TTL that is not valid.
func (s *State) invalidTTL(ttl time.Duration) string {
	return tenure.ValidateTTL(ttl, s.largest).Error()
}

// plain reports whether text is 1 to most bytes of printable ASCII: what most
// names are. It is a quick yes in front of the vocabulary's own check, which
// has the last word on all other text.
func plain(text []byte, most int) bool {
	if len(text) == 0 || len(text) > most {
		return false
	}
	for _, b := range text {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}
