// Package machine drives the pure state machine from Raft and adds what is
// local to a node: when each grant was applied, by the node's own monotonic
// clock, and the changes that watches see.
//
// It guarantees that an instant is only ever paired with the epoch, grant index
// and TTL that it was taken for, and that none of it leaves the node. It never
// panics into Raft: an entry that can't be applied is reported once, and
// nothing is applied after it.
package machine
