package leader

import (
	"slices"
	"time"

	"example.com/tenure"
	"example.com/tenure/fsm"
)

// A Request is a batch of commands from one caller, or a read if it has none.
// Its commands are valid: the boundary checks them.
type Request struct {
	Commands []fsm.Command
	Waits    []time.Duration // of each command; nil if none waits
	// Done is called once, when every command has its result. It must not
	// block, nor call the sequencer. For a read, Index is that of an entry
	// which was appended after the request arrived, or Err says why there is
	// none.
	Done func(*Request)

	Results []tenure.Result // one for each command, in order
	Index   uint64
	Err     error

	open     int            // commands without a result
	answered []bool         // which commands have one
	proposed []bool         // which commands are or were in an entry
	arrived  time.Duration  // on the leader's clock
	askers   map[int]*asker // of the commands that stand in line
	ended    bool           // the caller has gone: nothing is proposed for it any more
}

func (r *Request) command(item int) *fsm.Command { return &r.Commands[item] }

func (r *Request) wait(item int) time.Duration {
	if r.Waits == nil {
		return 0
	}
	return r.Waits[item]
}

// isRead says that the request wants an index only.
func (r *Request) isRead() bool { return len(r.Commands) == 0 }

// answer gives a command its result, and the caller all of them after the last.
func (r *Request) answer(item int, result tenure.Result) {
	r.Results[item] = result
	r.answered[item] = true
	delete(r.askers, item)
	if r.open--; r.open == 0 && !r.ended {
		r.Done(r)
	}
}

// leftover returns the results as they are now, for a caller that has gone with
// the given cause. A command that is in no entry was not applied, unless stands
// says that its id is in line still: in flight, or for another request.
func (r *Request) leftover(cause error, stands func(ask) bool) []tenure.Result {
	results := slices.Clone(r.Results)
	for i := range results {
		if !r.answered[i] {
			c := r.command(i)
			results[i] = unavailable(c, &tenure.UnavailableError{
				MaybeApplied: r.proposed[i] || c.Kind == fsm.Acquire && stands(askOf(c)), Reason: "no answer before the call ended", Err: cause,
			})
		}
	}
	return results
}

// finish answers a read.
func (r *Request) finish(index uint64, err error) {
	if r.Index, r.Err = index, err; !r.ended {
		r.Done(r)
	}
}
