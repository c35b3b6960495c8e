package fsm

import (
	"time"

	"example.com/tenure"
)

// A Record is the vocabulary's.
type Record = tenure.Record

// A Kind says what a [Command] does.
type Kind uint8

// The log commands. Cluster is the administrative one.
const (
	Acquire Kind = iota + 1
	Renew
	Release
	Forget
	Cluster
)

// A Command is one item of a log entry. Which fields count depends on Kind.
type Command struct {
	Kind      Kind
	Key       string
	Owner     string
	RequestID string        // Acquire; Release by request id if Epoch is 0
	Epoch     uint64        // Renew, Forget; Release by epoch
	TTL       time.Duration // Acquire, Renew; whole milliseconds
	Evidence  Evidence      // Acquire; zero for none

	// Number, unless zero, stands for Key, Owner and Epoch in Renew, Release
	// and Forget, and they are then not encoded.
	Number Number

	Settings Settings // Cluster
}

// Evidence names what the proposing leader saw expire. An acquire that carries
// it takes the key over only if exactly that still stands.
type Evidence struct {
	Epoch      uint64 // of the expired tenure; 0 if the evidence names the restore marker
	GrantIndex uint64 // of the expired tenure's newest grant
	Marker     uint64 // the restore marker's number; 0 if it names no marker
}

// A Number is the dense, cluster-wide name of a tenure inside the log. It is
// given at the tenure's acquire, once and never again: a command with the
// number of an ended tenure is lost. The zero Number names nothing.
type Number struct {
	Slot   uint32 // where the record is; slots are used again
	Serial uint64 // counts the tenures of the cluster from 1; never used again
}

// Settings are what a Cluster command changes. A zero field changes nothing.
type Settings struct {
	ClusterID   string        // set once, by the founder's first entry
	LargestTTL  time.Duration // set together with ClusterID
	ClearMarker uint64        // clears the restore marker of this number, if it still stands
	ResumeFloor bool          // lets records be dropped and the forgotten floor rise again after a restore
}

// A Code is the outcome of a [Command].
type Code uint8

// The outcomes.
const (
	Granted   Code = iota + 1 // Acquire: a new tenure
	Renewed                   // Renew, and a repeated Acquire: the tenure stands, its grant index is this entry
	Released                  // Release
	Forgotten                 // Forget
	Changed                   // Cluster
	Held                      // Acquire: refused
	Lost                      // refused, the tenure is over
	Invalid                   // refused, a value is malformed or out of bounds
)

// A Result is the outcome of one [Command]. It is plain values: what it names
// does not change with the state.
type Result struct {
	Code   Code
	Number Number // of the tenure granted, renewed, released or forgotten
	// Record is what stands after the command. For a refusal it is what stands
	// instead; its key is empty for a number that names nothing any more, and
	// its owner for the unknown tenure of a restore marker. For Released it is
	// what the tenure left, also if that was dropped at once. A Renewed result
	// carries only Epoch, Held and ForgottenAtEpoch: whoever sent the renewal
	// knows key and owner, and a batch of ten thousand renewals should not
	// build ten thousand strings.
	Record Record
	TTL    time.Duration // of the tenure that stands, 0 if none does
	// GrantIndex of the tenure that stands, 0 if none does.
	GrantIndex uint64
	// Repeated says of a Forgotten command that it changed nothing: the
	// forgotten epoch was this one already.
	Repeated bool
	// Previous is the tenure that a Granted command with evidence ended, for
	// watchers; zero if the key was free.
	Previous Previous
	Reason   string // Invalid: field, value and bound; a constant or built on this rare path only
}

// Previous names the tenure that a takeover ended.
type Previous struct {
	Owner string
	Epoch uint64
}
