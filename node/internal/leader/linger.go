package leader

import (
	"time"

	"example.com/tenure/fsm"
)

// Large batches of renewals wait for each other for a moment while there is
// nothing else to do. A fleet's keepers send many of them, all the time, and
// nobody waits for their answers: a hundred small entries a second would keep
// three disks and the processors busy, where a few dozen larger ones do. Whatever
// else arrives takes them along at once.
const (
	// lingerMost is how long a batch waits at most.
	lingerMost = 40 * time.Millisecond
	// lingerShare is what part of its shortest TTL a batch waits at most.
	lingerShare = 250
	// lingerBatch is the least number of renewals of a batch that waits. A lone
	// one may be what somebody waits for.
	lingerBatch = 16
	// lingerQueue is how many commands make waiting for more pointless.
	lingerQueue = maxCommands / 2
)

// setPatience notes until when a request that has just joined the tenures may
// wait. The least patient one decides for all.
func (s *Sequencer) setPatience(req *Request) {
	until := req.arrived + patience(req.Commands)
	if len(s.tenures) == 1 || until < s.patience {
		s.patience = until
	}
}

// patience returns how long a batch may wait for others.
func patience(commands []fsm.Command) time.Duration {
	if len(commands) < lingerBatch {
		return 0
	}
	least := lingerMost
	for i := range commands {
		if commands[i].Kind != fsm.Renew {
			return 0
		}
		least = min(least, commands[i].TTL/lingerShare)
	}
	return least
}

// mayLinger reports whether all that there is to do may wait for more.
func (s *Sequencer) mayLinger(now time.Duration) bool {
	_, _, marked := s.cfg.Machine.Marker()
	idle := len(s.asks)+len(s.refused)+len(s.reads)+len(s.lines.ready) == 0 && !marked
	return idle && len(s.tenures) > 0 && s.queued < lingerQueue && now < s.patience
}
