package wire

import "fmt"

// The operations of the API. What each takes and answers is said with the
// message types.
const (
	OpLease     byte = iota + 1 // AppendLeaseRequest, AppendLeaseAnswer
	OpReadIndex                 // Empty, Index: that of an entry appended after the request arrived
	OpGet                       // Key, View
	OpJoin                      // Join, Joined
	OpRemove                    // Target, Empty
	OpTransfer                  // Target, Empty
	OpMembers                   // Empty, Members
	OpState                     // StateAsk, State
	OpIdentify                  // Identity, Identity
	OpFound                     // Founding, Empty
)

// FlagForwarded marks a request that a node passes on. It is never passed on
// again.
const FlagForwarded byte = 1

// A Message is what an operation takes or answers, other than OpLease: one of
// the types of this package that say so.
type Message interface {
	append(dst []byte) []byte
	field(c *cursor) // reads the field that c is at
}

// AppendMessage appends what an operation takes.
func AppendMessage(dst []byte, m Message) []byte { return m.append(dst) }

// DecodeMessage reads into m, which is zero, what an operation takes. The error
// is an [ErrMalformed].
func DecodeMessage(p []byte, m Message) error {
	c := cursor{rest: p}
	for c.next() {
		m.field(&c)
	}
	return c.err
}

// An answer begins with how the operation went.
const (
	answerDone    = 0 // its message or results follow
	answerFailure = 1 // a failure follows
)

// AppendAnswer appends the answer of an operation that succeeded.
func AppendAnswer(dst []byte, m Message) []byte { return m.append(append(dst, answerDone)) }

// DecodeAnswer reads an answer into m, which is zero. The error is the one that
// the other end gave to AppendFailure, or an [ErrMalformed].
func DecodeAnswer(p []byte, m Message) error {
	body, err := openAnswer(p)
	if err != nil {
		return err
	}
	return DecodeMessage(body, m)
}

// openAnswer returns what follows an answer's first byte, or the error that it
// brings.
func openAnswer(p []byte) ([]byte, error) {
	switch {
	case len(p) == 0:
		return nil, fmt.Errorf("%w: an empty answer", ErrMalformed)
	case p[0] == answerDone:
		return p[1:], nil
	case p[0] == answerFailure:
		f, err := decodeFailure(p[1:])
		if err != nil {
			return nil, err
		}
		return nil, f.err()
	}
	return nil, fmt.Errorf("%w: an answer that begins with %d", ErrMalformed, p[0])
}
