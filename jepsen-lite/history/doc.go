// Package history is the one format in which every arena writes down what
// happened in a run, and which every checker reads.
//
// A history is a file of JSON lines, one [Event] a line. It is written as the
// run goes on, each line in one write to the file, so that it survives a crash
// of the harness: at worst the last line is torn. [Parse] tolerates exactly
// that, and refuses everything else with an error that names the line.
//
// All instants are on one common clock, the run's true one, in nanoseconds
// since the start of the run. The harness converts what is known only on a
// skewed clock before it writes it down.
//
// An operation is two lines with one id: an invocation, written before the
// request leaves, and a completion, written after the answer came. A
// completion is
//
//   - ok: the command was applied and this is its answer;
//   - fail: the command had no effect and will have none: refused by an answer
//     (held, lost, invalid), or surely never applied;
//   - info: nobody knows.
//
// An invocation without a completion counts as info.
//
//	w, err := history.Create("history.jsonl")
//	err = w.Write(history.Event{T: now(), Kind: history.Invoke, F: history.Acquire, ID: 7, Key: "k1", Owner: "r1/a"})
//	...
//	h, err := history.ReadFile("history.jsonl")
//	for _, op := range h.Ops { ... }
package history
