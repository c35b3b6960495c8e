package node

import (
	"errors"
	"fmt"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// An outcome is what the answer to one attempt says of it.
type outcome int

const (
	applied    outcome = iota
	refused            // by the log or at the boundary: definite
	notApplied         // definite, and another attempt may be
	unknown            // it may have been applied
)

func outcomeOf(err error) outcome {
	var unavailable *tenure.UnavailableError
	switch {
	case err == nil:
		return applied
	case !errors.As(err, &unavailable):
		return refused
	case unavailable.MaybeApplied:
		return unknown
	}
	return notApplied
}

// agree makes one answer of those to a forget and to the release that goes with
// it. They are sent together and a leader decides them together, but a node of
// an older version may have cut between them.
func agree(key string, forget, release *tenure.Result) {
	f, r := outcomeOf(forget.Err), outcomeOf(release.Err)
	switch {
	case f == r:
	case r == unknown:
		*forget = tenure.Result{Err: release.Err}
	case f == unknown:
		*release = tenure.Result{Err: forget.Err}
	case f == applied || r == applied:
		err := &tenure.UnavailableError{Key: key, MaybeApplied: true,
			Reason: fmt.Sprintf("a release that also forgets was applied in part (the forget: %s; the release: %s): look at the key's record", inWords(forget.Err), inWords(release.Err))}
		*forget, *release = tenure.Result{Err: err}, tenure.Result{Err: err}
	case f == refused:
		*release = tenure.Result{Err: forget.Err}
	default:
		*forget = tenure.Result{Err: release.Err}
	}
}

func inWords(err error) string {
	if err == nil {
		return "applied"
	}
	return err.Error()
}

// afterUnknown returns what to tell of a refusal that came after an attempt of
// unknown outcome. That attempt may have been applied before, or may still be
// under way to a node, so few refusals are definite then. One that is not must
// not be told as what it is, not even as a cause.
func afterUnknown(c *fsm.Command, refusal error) error {
	what, hint := "acquire", ""
	var lost *tenure.LostError
	switch isLost := errors.As(refusal, &lost); {
	case isLost && c.Kind != fsm.Forget:
		// The tenure, or that of the request id, is over for good.
		return refusal
	case isLost && lost.Record.Key == c.Key && lost.Record.ForgottenAtEpoch < c.Epoch:
		// The key's forgotten epoch never goes down, and a record that was
		// dropped leaves it at the floor, which is as high: no attempt was
		// applied while the tenure stood, and it will not stand again.
		return refusal
	case isLost && lost.Record.Key == c.Key:
		hint = fmt.Sprintf("; the key's record says that it is forgotten up to epoch %d", lost.Record.ForgottenAtEpoch)
	}
	switch c.Kind {
	case fsm.Renew:
		what = "renewal"
	case fsm.Forget:
		what = "forget"
	}
	return &tenure.UnavailableError{Key: c.Key, MaybeApplied: true,
		Reason: "an earlier attempt of this " + what + " has no known outcome; the last one: " + refusal.Error() + hint}
}
