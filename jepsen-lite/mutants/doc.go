// Package mutants proves that the harness can fail. It plants known defects in
// the product, one at a time, and says which checker saw each of them.
//
// A defect is a file in defects/: what is broken, the plan that exposes it, and
// what to find and replace in which files of the source. The product has no
// switch for it: the files are replaced while the harness is built (go build
// -overlay), so that everything inside the arena has the defect, and the
// source tree stays as it is. A text that is not found exactly once is an
// error, never a defect that silently is none.
//
// To add one, write defects/NAME.txt:
//
//	what: the margin is ignored
//	faults: clock,partition
//	timed: true
//	expects: gates
//	-- holder/cadence.go: find --
//	return sentAt + min(granted, c.ttl) - c.margin
//	-- holder/cadence.go: replace --
//	return sentAt + min(granted, c.ttl)
//
// In place of faults, 'plan: NAME' names a schedule that was written by hand, in
// plans/NAME.json: for a defect that needs this after that. What nothing in an
// arena reaches yet is exposed by the stories of its own package, which
// 'stories: FOLDER' names. The product without the defect must pass the same.
package mutants
