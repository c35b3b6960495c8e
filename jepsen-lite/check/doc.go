// Package check judges histories. Each checker is one small file with one
// subject, and says in its comment what it sees and what it can't: none is
// enough alone.
//
// A checker never guesses. What it is sure of is a [Violation], with the
// events that prove it. Where a history lacks what it needs it is skipped, or,
// if the arena promised just that, says unknown. [Judge] runs all of them and
// adds the coverage table: a run in which nothing difficult happened is
// unknown, too, however clean it looks.
//
// Two claims are kept apart. Claim A is timed: while clocks keep their rates
// within the margin, held intervals never overlap. Claim B is not: whatever is
// frozen, no acknowledged write is lost and nothing dead is read back. A run
// whose faults go beyond the margin switches the checkers of claim A off.
//
//	h, err := history.ReadFile("history.jsonl")
//	j := check.Judge(h)
//	fmt.Println(j.Verdict)
package check
