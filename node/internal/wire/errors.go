package wire

import (
	"errors"
	"fmt"
)

// Errors that end a connection, found with errors.Is in what a call returns.
var (
	// ErrClosed: this end closed the connection.
	ErrClosed = errors.New("connection closed")
	// ErrSilent: nothing came from the other end for the ping timeout.
	ErrSilent = errors.New("no sign of life from the other end")
	// ErrProtocol: the other end sent what the protocol doesn't allow.
	ErrProtocol = errors.New("protocol violated")
	// ErrOverload: more is in flight, or waits to be read, than the limits
	// allow.
	ErrOverload = errors.New("too much in flight")
)

// ErrMalformed: a message that no encoder of this protocol made. Of an answer
// it says nothing about the outcome.
var ErrMalformed = errors.New("malformed message")

// NotSent says that a call's request surely did not reach the other end.
// Nothing was done, and nothing will be.
type NotSent struct {
	Err error // why
}

// Error says why.
func (e *NotSent) Error() string { return fmt.Sprintf("request not sent: %v", e.Err) }

// Unwrap returns the cause.
func (e *NotSent) Unwrap() error { return e.Err }

// Broken says that a call ended without an answer when its request may have
// left: the other end may have acted on it, or may still.
type Broken struct {
	Err error // why
}

// Error says why.
func (e *Broken) Error() string { return fmt.Sprintf("no answer, outcome unknown: %v", e.Err) }

// Unwrap returns the cause.
func (e *Broken) Unwrap() error { return e.Err }
