package httpapi

import "example.com/tenure"

// An AcquireRequest is the body of POST /v1/acquire: one key, or many in Keys.
type AcquireRequest struct {
	Key        string       `json:"key,omitempty"`
	Owner      string       `json:"owner"`
	RequestID  string       `json:"request_id,omitempty"`
	TTLMillis  int64        `json:"ttl_ms"`
	WaitMillis int64        `json:"wait_ms,omitempty"`
	Keys       []AcquireKey `json:"keys,omitempty"` // instead of Key and RequestID
}

// An AcquireKey is one of many keys to acquire.
type AcquireKey struct {
	Key       string `json:"key"`
	RequestID string `json:"request_id"`
}

// A RenewRequest is the body of POST /v1/renew.
type RenewRequest struct {
	Owner     string   `json:"owner"`
	TTLMillis int64    `json:"ttl_ms"`
	Tenures   []Tenure `json:"tenures"`
}

// A ReleaseRequest is the body of POST /v1/release.
type ReleaseRequest struct {
	Owner   string   `json:"owner"`
	Tenures []Ending `json:"tenures"`
	Forget  bool     `json:"forget,omitempty"`
}

// A ForgetRequest is the body of POST /v1/forget.
type ForgetRequest struct {
	Key   string `json:"key"`
	Owner string `json:"owner"`
	Epoch Epoch  `json:"epoch"`
}

// A Tenure names a tenure of a known owner.
type Tenure struct {
	Key   string `json:"key"`
	Epoch Epoch  `json:"epoch"`
}

// An Ending names a tenure to release by its epoch or, where the outcome of the
// acquire never became known, by its request id.
type Ending struct {
	Key       string `json:"key"`
	Epoch     Epoch  `json:"epoch,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// A JoinRequest is the body of POST /v1/members.
type JoinRequest struct {
	ID       string `json:"id"`
	Addr     string `json:"addr"`
	Nonvoter bool   `json:"nonvoter,omitempty"`
}

// A TransferRequest is the body of POST /v1/transfer.
type TransferRequest struct {
	ID string `json:"id,omitempty"` // "" hands leadership to any voter
}

// A Record is what the cluster knows of a key, as [tenure.Record] has it.
type Record struct {
	Key              string `json:"key"`
	Owner            string `json:"owner"`
	Epoch            Epoch  `json:"epoch"`
	ForgottenAtEpoch Epoch  `json:"forgotten_at_epoch"`
	Held             bool   `json:"held"`
}

// RecordOf returns the record as the API writes it.
func RecordOf(r tenure.Record) Record {
	return Record{Key: r.Key, Owner: r.Owner, Epoch: Epoch(r.Epoch), ForgottenAtEpoch: Epoch(r.ForgottenAtEpoch), Held: r.Held}
}

// Record returns the record in the vocabulary's type.
func (r Record) Record() tenure.Record {
	return tenure.Record{Key: r.Key, Owner: r.Owner, Epoch: uint64(r.Epoch), ForgottenAtEpoch: uint64(r.ForgottenAtEpoch), Held: r.Held}
}

// A Grant answers an acquire, a renewal, a release or a forget.
type Grant struct {
	Record    Record `json:"record"`
	TTLMillis int64  `json:"ttl_ms"` // the one that holds
}

// GrantOf returns the grant as the API writes it.
func GrantOf(g tenure.Grant) Grant {
	return Grant{Record: RecordOf(g.Record), TTLMillis: g.TTL.Milliseconds()}
}

// A Lease is a record as the answering node sees it.
type Lease struct {
	Record          Record `json:"record"`
	TTLMillis       int64  `json:"ttl_ms"`
	Expired         bool   `json:"expired"`
	RemainingMillis int64  `json:"remaining_ms"`
}

// LeaseOf returns the view as the API writes it.
func LeaseOf(v tenure.View) Lease {
	return Lease{Record: RecordOf(v.Record), TTLMillis: v.TTL.Milliseconds(), Expired: v.Expired, RemainingMillis: ceilMillis(v.Remaining)}
}

// Leases is a page of GET /v1/leases.
type Leases struct {
	Leases []Lease `json:"leases"`
	Cursor string  `json:"cursor,omitempty"` // where the next page goes on, "" after the last
}

// An Event is the data of a server-sent event of GET /v1/watch.
type Event struct {
	Event  string  `json:"event"` // granted, released, forgotten or missed
	Index  uint64  `json:"index"`
	Record *Record `json:"record,omitempty"` // after the change; none in a missed one
}

// EventOf returns the event as the API writes it.
func EventOf(e tenure.Event) Event {
	out := Event{Event: e.Kind.String(), Index: e.Index}
	if e.Kind != tenure.EventMissed {
		r := RecordOf(e.Record)
		out.Record = &r
	}
	return out
}
