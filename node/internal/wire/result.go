package wire

import (
	"encoding/binary"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// A result begins with one byte: its kind, and what it need not say because
// its command did. The result of a renewal is three bytes.
//
//	granted: record, TTL, grant index less the one of the grant before
//	refused: record, remaining time
//	failed:  the length of a failure, and the failure
//
// A record is key, owner, epoch and forgotten epoch.
const (
	resultGranted = 1
	resultRefused = 2 // held
	resultFailed  = 3
	resultKind    = 7

	sameKey   = 1 << 3
	sameOwner = 1 << 4
	sameEpoch = 1 << 5
	sameTTL   = 1 << 6
	isHeld    = 1 << 7 // the record is
)

// appendResult appends the result of a command. index is that of the grant
// before it in the answer.
func appendResult(dst []byte, c *fsm.Command, r *tenure.Result, index *uint64) []byte {
	if r.Err != nil {
		return appendError(dst, c, r.Err)
	}
	g := &r.Grant
	same := sameRecord(c, &g.Record)
	if g.TTL == c.TTL {
		same |= sameTTL
	}
	dst = appendRelative(append(dst, resultGranted|same), same, &g.Record)
	if same&sameTTL == 0 {
		dst = binary.AppendUvarint(dst, packDuration(g.TTL))
	}
	dst = binary.AppendVarint(dst, int64(g.Index-*index))
	*index = g.Index
	return dst
}

func appendError(dst []byte, c *fsm.Command, err error) []byte {
	f := failureOf(err)
	if f.kind == failedHeld {
		same := sameRecord(c, &f.record)
		dst = appendRelative(append(dst, resultRefused|same), same, &f.record)
		return binary.AppendUvarint(dst, packDuration(f.remaining))
	}
	same := f.relate(c)
	part := f.append(nil)
	dst = binary.AppendUvarint(append(dst, resultFailed|same), uint64(len(part)))
	return append(dst, part...)
}

// sameRecord says what a record repeats of its command.
func sameRecord(c *fsm.Command, r *tenure.Record) byte {
	var same byte
	if r.Key == c.Key {
		same |= sameKey
	}
	if r.Owner == c.Owner {
		same |= sameOwner
	}
	if r.Epoch == c.Epoch {
		same |= sameEpoch
	}
	if r.Held {
		same |= isHeld
	}
	return same
}

func appendRelative(dst []byte, same byte, r *tenure.Record) []byte {
	if same&sameKey == 0 {
		dst = appendBare(dst, r.Key)
	}
	if same&sameOwner == 0 {
		dst = appendBare(dst, r.Owner)
	}
	if same&sameEpoch == 0 {
		dst = binary.AppendUvarint(dst, r.Epoch)
	}
	return binary.AppendUvarint(dst, r.ForgottenAtEpoch)
}

func appendBare(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// relate empties the fields that repeat the command, and says which.
func (f *failure) relate(c *fsm.Command) byte {
	var same byte
	if f.key == c.Key {
		f.key, same = "", same|sameKey
	}
	if f.owner == c.Owner {
		f.owner, same = "", same|sameOwner
	}
	if f.epoch == c.Epoch {
		f.epoch, same = 0, same|sameEpoch
	}
	return same
}

// result reads the result of a command.
func (c *cursor) result(of *fsm.Command, index *uint64) tenure.Result {
	head := c.byte()
	switch head & resultKind {
	case resultGranted:
		g := tenure.Grant{Record: c.relative(of, head), TTL: of.TTL}
		if head&sameTTL == 0 {
			g.TTL = c.unpacked(c.uvarint())
		}
		*index += uint64(c.varint())
		g.Index = *index
		return tenure.Result{Grant: g}
	case resultRefused:
		return tenure.Result{Err: &tenure.HeldError{Record: c.relative(of, head), Remaining: c.unpacked(c.uvarint())}}
	case resultFailed:
		return tenure.Result{Err: c.failed(of, head)}
	}
	c.fail("result of unknown kind %d", head&resultKind)
	return tenure.Result{}
}

func (c *cursor) relative(of *fsm.Command, head byte) tenure.Record {
	r := tenure.Record{Key: of.Key, Owner: of.Owner, Epoch: of.Epoch, Held: head&isHeld != 0}
	if head&sameKey == 0 {
		r.Key = c.checked(c.take(c.uvarint()), tenure.MaxKeyBytes)
	}
	if head&sameOwner == 0 {
		r.Owner = c.checked(c.take(c.uvarint()), tenure.MaxOwnerBytes)
	}
	if head&sameEpoch == 0 {
		r.Epoch = c.uvarint()
	}
	r.ForgottenAtEpoch = c.uvarint()
	return r
}

func (c *cursor) failed(of *fsm.Command, head byte) error {
	f, err := decodeFailure(c.take(c.uvarint()))
	if err != nil {
		if c.err == nil {
			c.err, c.rest = err, nil
		}
		return nil
	}
	if head&sameKey != 0 {
		f.key = of.Key
	}
	if head&sameOwner != 0 {
		f.owner = of.Owner
	}
	if head&sameEpoch != 0 {
		f.epoch = of.Epoch
	}
	return f.err()
}
