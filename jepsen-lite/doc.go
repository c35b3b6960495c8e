// Package jepsenlite puts clusters under faults and checks that a key has at
// most one owner.
//
// A plan (package plan) says what is to happen, an arena (package virtual or
// process) makes it happen and writes a history (package history), checkers
// (package check) judge the history, and a report (package report) tells what
// they found. [RunPlan] does all of it for one plan.
//
// [Run] is for the tests of a service: it does the same to a fleet of the
// service's own replicas (package fleet), which an adapter of six methods
// drives. It sees what the fleet's clients see, and nothing else.
//
//	func TestUnderFaults(t *testing.T) {
//		jepsenlite.Run(t, jepsenlite.Config{Fleet: &myFleet{}, TTL: 5 * time.Second})
//	}
//
// It needs loopback, and on it what the adapter does; no privilege. The page
// docs/testing.md has a whole adapter.
package jepsenlite
