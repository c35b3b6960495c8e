// Package leader is what a node does while it leads: it orders the commands of
// all callers into log entries, one entry in flight at a time, and keeps the
// line of those who wait for a key.
//
// It guarantees:
//
//   - Every answer comes from an entry that was appended after the request
//     arrived: held and lost are never told from the node's state alone.
//   - Held is definite: while an (owner, request id) stands in line or is
//     proposed, another request under it that does not wait, or not any more,
//     is told 'may have been applied'.
//   - While a key has a line, everyone else goes behind it, first come, first
//     served. A cancelled waiter leaves at once.
//   - A key is given away over a standing tenure only with the evidence that
//     this node saw its newest grant expire; the state machine compares it.
//   - When leadership ends, all that wait are answered at once, and what was in
//     flight as 'may have been applied'.
//
// With one entry in flight, all that the leader knows when it builds an entry
// is applied: a release is followed by the grant to the next in line in the
// very next entry. Measurements found no gain in more than one.
package leader
