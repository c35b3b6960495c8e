package tenure

import "time"

// A Record is what the cluster knows of a key.
type Record struct {
	Key   string
	Owner string // of the present tenure, or of the last one if Held is false; "" if unknown
	// Epoch is that of the present or the last tenure. For a key without a
	// record it is the epoch which its next tenure will be above.
	Epoch uint64
	// ForgottenAtEpoch is the key's forgotten epoch: durable copies written
	// under epochs up to this one are dead. It never goes down.
	ForgottenAtEpoch uint64
	Held             bool // a tenure stands; it may be past its TTL, see [View]
}

// A Grant is what an acquire or a renewal returns.
type Grant struct {
	Record Record
	// TTL is the one that holds: the greatest that was asked for within the
	// tenure. The store admits nobody else for that long from the instant at
	// which it applied the grant.
	TTL time.Duration
	// Index is the grant index: the index of the Raft log entry of the newest
	// acquire or renewal of the tenure.
	Index uint64
}

// A View is a record as one node sees it.
type View struct {
	Record Record
	TTL    time.Duration // of the tenure, 0 if the record is not held
	Index  uint64        // grant index of the tenure, 0 if the record is not held
	// Expired says that, as the answering node judges, the tenure's TTL has
	// passed: another acquire would be granted. Expiry by itself changes
	// nothing, so a held and expired tenure can still be renewed.
	Expired   bool
	Remaining time.Duration // until Expired in the answering node's judgement, from 0 to TTL
}
