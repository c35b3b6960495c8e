// Package fsm is the pure state machine of the lease cluster: commands, their
// codec, their effect on the state, and the snapshot.
package fsm
