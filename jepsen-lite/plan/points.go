package plan

// The points of a replica's work at which a fault can be made to strike. A
// fault of such a kind waits, from its At on, until its target comes to the
// point; it stands for its For from then on, or until the safety phase ends.
const (
	BeforeWrite = "before-write" // the first gate of a write has passed, and nothing is written
	AfterWrite  = "after-write"  // what was written is durable, and the second gate is not asked yet
	BeforeAck   = "before-ack"   // the second gate has passed, and nothing is acknowledged
	Acquired    = "acquired"     // a successor has its tenure, and has sealed nothing
	Sealed      = "sealed"       // a successor has sealed the epochs below its own, and read nothing
	Copied      = "copied"       // a successor has read the newest copy, and not published its own
)

var (
	writing    = []string{BeforeWrite, AfterWrite, BeforeAck}
	recovering = []string{Acquired, Sealed, Copied}
)

// Waits reports whether the fault waits for its target to come to a point.
func (f *Fault) Waits() bool { return f.Point != "" }

func (d *drawing) atGate(f *Fault) {
	d.replica(f)
	f.Point = writing[d.rng.IntN(len(writing))]
}

func (d *drawing) atRecovery(f *Fault) {
	d.replica(f)
	f.Point = recovering[d.rng.IntN(len(recovering))]
}
