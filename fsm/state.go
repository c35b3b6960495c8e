package fsm

import (
	"fmt"
	"time"
)

// MaxRecords is how many records a cluster can have. An acquire of a key
// without a record is invalid beyond it.
const MaxRecords = 1 << 26

// A State is the replicated state: a record for each key that was acquired and
// not yet forgotten and released, and what holds for all keys.
//
// It has no lock. [State.Apply] and [State.Snapshot] need it alone; the methods
// that only look can run at the same time as each other. A [Snapshot] is
// independent of its state from the start.
type State struct {
	globals
	table
	sum     uint64 // of all records, see checksum.go
	records int    // in use
	holding int    // of them, those whose tenure stands

	generation uint64 // raised by each snapshot, see page
	slots      slots
	keys       index
	owners     owners
	seed       sipKey
	items      items // where Apply reads its entry
	fault      error // the violated invariant that made the state unusable
}

// A globals is what holds for all keys.
type globals struct {
	clusterID string        // "" until the cluster's first entry
	largest   time.Duration // TTL
	index     uint64        // of the newest entry
	serials   uint64        // tenures so far
	floor     uint64        // forgotten epoch of every key without a record
	base      uint64        // every later tenure's epoch is above it; numbers the restore marker
	marked    bool          // the restore marker stands
	window    time.Duration // how long after a restore the tenures that nobody here knows may last
	frozen    bool          // since a restore: no record is dropped, and the floor stands still
}

// A table is the records by slot.
type table struct {
	pages []page
}

// An Option changes how a state is laid out on one node, and nothing that is
// replicated.
type Option func(*State)

// WithSeed keys the hashes of the indexes of keys and owners with 128 random
// bits. Without it whoever may choose keys can choose many that fall together
// and make each look-up slow.
func WithSeed(k0, k1 uint64) Option {
	return func(s *State) { s.seed = sipKey{k0, k1} }
}

// New returns the state before the first entry of a cluster's log. It grants
// nothing until a [Cluster] command has given the cluster its id.
func New(options ...Option) *State {
	s := &State{}
	for _, option := range options {
		option(s)
	}
	s.owners.seed = s.seed
	return s
}

// Len returns how many records there are, and how many of them are held.
func (s *State) Len() (records, held int) { return s.records, s.holding }

// Slots returns a bound above every slot in use. It falls again when records
// are dropped.
func (s *State) Slots() uint32 { return uint32(len(s.pages)) * pageSize }

// Cluster returns the cluster's id and its largest TTL: "" and 0 before the
// entry that sets them.
func (s *State) Cluster() (id string, largestTTL time.Duration) { return s.clusterID, s.largest }

// Marker returns the number of the newest restore marker and whether it still
// stands. A cluster that never was restored has none, and the number 0.
func (s *State) Marker() (number uint64, standing bool) { return s.base, s.marked }

// MarkerWindow returns the number of the newest restore marker and for how long
// after the restore the unknown tenures, for which it stands, may last. A node
// judges the marker as it does a grant with this TTL.
func (s *State) MarkerWindow() (number uint64, window time.Duration) { return s.base, s.window }

// Floor returns the forgotten floor: the forgotten epoch of every key without
// a record.
func (s *State) Floor() uint64 { return s.floor }

// Base returns the epoch base, above which every later epoch is; 0 if the
// cluster never was restored.
func (s *State) Base() uint64 { return s.base }

// Index returns the index of the newest entry that was applied.
func (s *State) Index() uint64 { return s.index }

// violated makes the state unusable: from now on every Apply returns the error.
func (s *State) violated(format string, args ...any) {
	if s.fault == nil {
		s.fault = fmt.Errorf("%w: "+format, append([]any{ErrInvariant}, args...)...)
	}
}
