package fsm

import (
	"time"

	"example.com/tenure"
)

// invalidAcquire says what is wrong with the values of an acquire, "" if
// nothing is.
func (s *State) invalidAcquire(c *item) string {
	err := validateTexts(c.texts)
	if err == nil && !s.validTTL(c.ttl) {
		return s.invalidTTL(c.ttl)
	}
	return reason(err)
}

// invalidTenure says what is wrong with how a command names a tenure, "" if
// nothing is. A command that names a tenure which stands was compared with
// values that are valid, so only one that doesn't is asked.
func invalidTenure(c *item) string {
	err := validateKey(c.key)
	if err == nil {
		err = validateOwner(c.owner)
	}
	switch {
	case err != nil:
	case len(c.id) > 0:
		err = validateRequestID(c.id)
	default:
		err = tenure.ValidateEpoch(c.epoch)
	}
	return reason(err)
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// validTTL reports whether the cluster allows the TTL.
func (s *State) validTTL(ttl time.Duration) bool {
	return ttl >= tenure.MinTTL && ttl <= s.largest && ttl%time.Millisecond == 0
}

// invalidTTL says what is wrong with a TTL that is not valid.
func (s *State) invalidTTL(ttl time.Duration) string {
	return reason(tenure.ValidateTTL(ttl, s.largest))
}

func validateTexts(t texts) error {
	err := validateKey(t.key)
	if err == nil {
		err = validateOwner(t.owner)
	}
	if err == nil {
		err = validateRequestID(t.id)
	}
	return err
}

func validateKey(key []byte) error {
	if plain(key, tenure.MaxKeyBytes) {
		return nil
	}
	return tenure.ValidateKey(string(key))
}

func validateOwner(owner []byte) error {
	if plain(owner, tenure.MaxOwnerBytes) {
		return nil
	}
	return tenure.ValidateOwner(string(owner))
}

func validateRequestID(id []byte) error {
	if plain(id, tenure.MaxRequestIDBytes) {
		return nil
	}
	return tenure.ValidateRequestID(string(id))
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
