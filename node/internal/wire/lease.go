package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// The numbers of a lease request's fields.
const (
	leaseEntry = iota + 1 // the commands, encoded as a log entry is
	leaseWaits            // a varint of milliseconds for each command; left out if all are 0
)

// AppendLeaseRequest appends what OpLease takes: commands, which are acquires,
// renewals, releases and forgets, and how long each may wait in line. waits is
// nil if none does; a part of a millisecond counts as a whole one. Commands are
// sent by key, owner and epoch: the number that a leader has given one is left
// out. The error is a [*NotSent] that says what can't be sent at all.
func AppendLeaseRequest(dst []byte, commands []fsm.Command, waits []time.Duration) ([]byte, error) {
	commands = withoutNumbers(commands)
	if err := checkCommands(commands); err != nil {
		return dst, &NotSent{Err: err}
	}
	entry, err := fsm.AppendEntry(nil, commands)
	if err != nil {
		return dst, &NotSent{Err: err}
	}
	start := len(dst)
	out := appendPart(dst, leaseEntry, entry)
	if packed := packWaits(waits, len(commands)); packed != nil {
		out = appendPart(out, leaseWaits, packed)
	}
	if size := len(out) - start; size > MaxRequest {
		return dst, &NotSent{Err: fmt.Errorf("%w: %d commands of %d bytes, at most %d are allowed: send fewer at once",
			ErrOverload, len(commands), size, MaxRequest)}
	}
	return out, nil
}

// withoutNumbers returns the commands without their numbers, in a copy if any
// has one.
func withoutNumbers(commands []fsm.Command) []fsm.Command {
	numbered := func(c fsm.Command) bool { return c.Number != (fsm.Number{}) }
	if !slices.ContainsFunc(commands, numbered) {
		return commands
	}
	commands = slices.Clone(commands)
	for i := range commands {
		commands[i].Number = fsm.Number{}
	}
	return commands
}

// checkCommands reports a command that nobody but a leader may put into an
// entry: one that names a tenure by its number or brings evidence, or that
// changes the cluster.
func checkCommands(commands []fsm.Command) error {
	if len(commands) == 0 {
		return fmt.Errorf("%w: no commands", ErrMalformed)
	}
	for i := range commands {
		c := &commands[i]
		known := c.Kind >= fsm.Acquire && c.Kind <= fsm.Forget
		if !known || c.Number != (fsm.Number{}) || c.Evidence != (fsm.Evidence{}) {
			return fmt.Errorf("%w: command %d (kind %d) is one that only a leader makes", ErrMalformed, i, c.Kind)
		}
	}
	return nil
}

func packWaits(waits []time.Duration, n int) []byte {
	any := false
	for _, wait := range waits {
		any = any || wait > 0
	}
	if !any {
		return nil
	}
	packed := make([]byte, 0, n)
	for _, wait := range waits {
		packed = binary.AppendUvarint(packed, uint64(max(0, wait+time.Millisecond-1)/time.Millisecond))
	}
	return packed
}

// DecodeLeaseRequest reads what OpLease takes: at least one command, and waits
// that are nil or one for each command. Their values are as they were sent, for
// the node to check. The error is an [ErrMalformed], or fsm's.
func DecodeLeaseRequest(p []byte) ([]fsm.Command, []time.Duration, error) {
	var entry, packed []byte
	c := cursor{rest: p}
	for c.next() {
		switch c.number {
		case leaseEntry:
			entry = c.bytes
		case leaseWaits:
			packed = c.bytes
		}
	}
	if c.err != nil {
		return nil, nil, c.err
	}
	commands, err := fsm.DecodeEntry(entry)
	if err != nil {
		return nil, nil, err
	}
	if err := checkCommands(commands); err != nil {
		return nil, nil, err
	}
	waits, err := unpackWaits(packed, len(commands))
	return commands, waits, err
}

func unpackWaits(packed []byte, n int) ([]time.Duration, error) {
	if packed == nil {
		return nil, nil
	}
	c := cursor{rest: packed}
	waits := make([]time.Duration, n)
	for i := range waits {
		ms := c.uvarint()
		if ms > uint64(tenure.MaxWait/time.Millisecond) {
			c.fail("a wait of %d ms, at most %v is allowed", ms, tenure.MaxWait)
		}
		waits[i] = time.Duration(ms) * time.Millisecond
	}
	if c.err == nil && len(c.rest) > 0 {
		c.fail("more waits than the %d commands", n)
	}
	return waits, c.err
}

// AppendLeaseAnswer appends the answer of OpLease: a result for each of the
// request's commands. What a result repeats of its command is not sent.
func AppendLeaseAnswer(dst []byte, commands []fsm.Command, results []tenure.Result) []byte {
	start := len(dst)
	dst = append(dst, answerDone)
	var index uint64
	for i := range results {
		dst = appendResult(dst, &commands[i], &results[i], &index)
		if len(dst)-start > MaxAnswer {
			return AppendFailure(dst[:start], &tenure.UnavailableError{
				MaybeApplied: true, Reason: "the results are too large for one answer: send fewer commands at once",
			})
		}
	}
	return dst
}

// DecodeLeaseAnswer reads the answer to a request with these commands. The
// error is a refusal of the whole request, or an [ErrMalformed].
func DecodeLeaseAnswer(p []byte, commands []fsm.Command) ([]tenure.Result, error) {
	body, err := openAnswer(p)
	if err != nil {
		return nil, err
	}
	c := cursor{rest: body}
	results := make([]tenure.Result, len(commands))
	var index uint64
	for i := range results {
		results[i] = c.result(&commands[i], &index)
	}
	if c.err == nil && len(c.rest) > 0 {
		c.fail("more results than the %d commands", len(commands))
	}
	if c.err != nil {
		return nil, c.err
	}
	return results, nil
}
