package history

import "time"

// A Kind says what an [Event] reports.
type Kind string

// The kinds of events.
const (
	Run      Kind = "run"      // the first line: Terms says how to judge the run
	Phase    Kind = "phase"    // a phase begins: F is one of the Phase constants
	Invoke   Kind = "invoke"   // an operation begins
	OK       Kind = "ok"       // an operation was applied
	Fail     Kind = "fail"     // an operation had no effect and will have none
	Info     Kind = "info"     // an operation's outcome is unknown
	Hold     Kind = "hold"     // a holder took an answer as a grant: Sent and Fence, on the common clock
	Gate     Kind = "gate"     // a gate of a holder passed: N is 1 before the work, 2 after it, 0 for a bare look
	Ack      Kind = "ack"      // a holder acknowledged the write Value to its caller
	Stop     Kind = "stop"     // a holder stopped by itself or was told so: Msg says why
	Fault    Kind = "fault"    // a fault was taken and its probe confirmed it: F is the fault's kind
	Heal     Kind = "heal"     // the fault of the same ID was healed and its probe confirmed that
	Leader   Kind = "leader"   // Node leads in Term
	Snapshot Kind = "snapshot" // Node installed a snapshot up to Index
	Log      Kind = "log"      // a command of the committed log: F, Index, Term, Pos
	Watch    Kind = "watch"    // a watch of all keys on Node told Client an event, began, or stood to the end: F, Index, Key, Epoch, Owner
	Sum      Kind = "sum"      // Node's state at Index has the checksum Sum
	Breach   Kind = "breach"   // Node did what no node may, whatever strikes it: Msg says what
	Leak     Kind = "leak"     // N of F were left when everything had been closed
	Note     Kind = "note"     // a remark for people
	End      Kind = "end"      // the last line of a run that was not cut off
)

// The functions of operations.
const (
	Acquire = "acquire"
	Renew   = "renew"
	Release = "release"
	Forget  = "forget"
	Get     = "get"     // a linearizable read
	Owner   = "owner"   // a local lookup: may be old, never false
	Write   = "write"   // through the gate, to the durable copy of the writer's own epoch
	Read    = "read"    // of the reader's own copy
	Recover = "recover" // seal all epochs below, read the newest copy, publish it under the own epoch

	// Of a client of a fleet that is looked at from outside only.
	Put  = "put"  // a write through some replica: its answer says who acknowledged it, and the epoch if it is told
	List = "list" // a read through some replica of all that was written to the key
)

// The phases of a run.
const (
	PhaseSafety   = "safety"   // faults come and go
	PhaseLiveness = "liveness" // everything is healed and must work again
)

// What F says of a log command that administers the cluster, and of watch
// events. A log command that is an operation has the operation's function.
const (
	Cluster   = "cluster"
	Granted   = "granted"
	Released  = "released"
	Forgotten = "forgotten"
	Missed    = "missed" // the watch missed changes up to Index
	Began     = "began"  // the watch is to tell every change after Index, and maybe some before
	Stood     = "stood"  // the watch still stood when everything was quiet, and had had its time to tell all up to Index
)

// What Err says of a completion that is not ok.
const (
	Held        = "held"
	Lost        = "lost"
	Unavailable = "unavailable"
	Invalid     = "invalid"
	Fenced      = "fenced"
)

// An Event is one line of a history. Which fields count depends on Kind;
// fields that are zero are left out of the line.
type Event struct {
	T    time.Duration `json:"t"` // since the start of the run, on the common clock, in ns
	Kind Kind          `json:"kind"`
	F    string        `json:"f,omitempty"`  // what is done: a function, or a fault's kind
	ID   uint64        `json:"id,omitempty"` // pairs an invocation with its completion, a fault with its heal

	Node   string `json:"node,omitempty"`   // that was asked, or that the event is about
	Client string `json:"client,omitempty"` // the replica or reader that acts

	Key   string        `json:"key,omitempty"`
	Owner string        `json:"owner,omitempty"` // who asks; in a read's answer, log and watch: whose tenure it is
	Epoch uint64        `json:"epoch,omitempty"` // of the tenure that is asked for, granted or reported
	Req   string        `json:"req,omitempty"`   // request id
	TTL   time.Duration `json:"ttl,omitempty"`   // asked for; in an answer: the one that holds
	Wait  time.Duration `json:"wait,omitempty"`  // how long an acquire may stand in line

	// What an answer tells of the record.
	Forgotten uint64 `json:"forgotten,omitempty"` // forgotten epoch
	Holder    string `json:"holder,omitempty"`    // owner of the record in a refusal
	Held      bool   `json:"held,omitempty"`      // a tenure stands
	Expired   bool   `json:"expired,omitempty"`   // its TTL has passed in the answering node's judgement

	Index  uint64 `json:"index,omitempty"`  // of the log entry
	Term   uint64 `json:"term,omitempty"`   // of the log entry, or of the leader
	Pos    int    `json:"pos,omitempty"`    // of the command in its log entry, from 0
	Number uint64 `json:"number,omitempty"` // of a logged command that names its tenure by it: the n-th that was ever granted
	Forget bool   `json:"forget,omitempty"` // a release that also forgets

	// Evidence of a logged acquire: what its proposer saw expire.
	SeenEpoch uint64 `json:"seen_epoch,omitempty"`
	SeenIndex uint64 `json:"seen_index,omitempty"`
	// Stored is when the first disk was about to store a logged command: its
	// entry was made before. 0 if that is not known.
	Stored time.Duration `json:"stored,omitempty"`

	Sent  time.Duration `json:"sent,omitempty"`  // when the request of this grant was sent
	Fence time.Duration `json:"fence,omitempty"` // when the holder stops by itself, 0 if nobody can tell
	// The same on the holder's own clock, where the arena knows it: what a
	// gate compared, and with what.
	Reading time.Duration `json:"reading,omitempty"` // the clock at this event
	Until   time.Duration `json:"until,omitempty"`   // the fence
	N       int           `json:"n,omitempty"`       // which gate; how many were left

	Value  uint64 `json:"value,omitempty"`  // of a write, its gates and its ack: unique for its key
	Values Set    `json:"values,omitempty"` // what a read, a recovery or a list found
	Twice  Set    `json:"twice,omitempty"`  // of them, what a list found more than once
	Copy   uint64 `json:"copy,omitempty"`   // epoch of the copy that was read, 0 for none
	Sealed uint64 `json:"sealed,omitempty"` // the seal that a write found when it looked, 0 if that is not known

	Targets []string `json:"targets,omitempty"` // of a fault: nodes, replicas or directed links as a>b
	Rate    float64  `json:"rate,omitempty"`    // of a clock, against true time
	Sum     string   `json:"sum,omitempty"`     // checksum of a state

	Err string `json:"err,omitempty"` // why not ok
	Msg string `json:"msg,omitempty"` // for people

	Terms *Terms `json:"terms,omitempty"` // of the run event

	Line int `json:"-"` // where it stands in the file, from 1
}
