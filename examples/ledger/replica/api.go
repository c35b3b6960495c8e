package replica

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"example.com/tenure"
	"example.com/tenure/examples/ledger/store"
)

// maxBody is the largest body of a request that is read.
const maxBody = 1 << 20

// An Append is the body of POST /tenants/{tenant}/entries.
type Append struct {
	ID   string `json:"id"` // the writer's own name for the entry: a retry has the same
	Text string `json:"text"`
}

// An Acknowledgement says that an entry is in the ledger for good.
type Acknowledgement struct {
	Seq     uint64 `json:"seq"`     // its place
	Epoch   uint64 `json:"epoch"`   // of the tenure that wrote it
	Replica string `json:"replica"` // that acknowledged it
}

// A Reading is the answer to GET /tenants/{tenant}/entries.
type Reading struct {
	Tenant  string        `json:"tenant"`
	Epoch   uint64        `json:"epoch"` // of the tenure that answered
	Replica string        `json:"replica"`
	Entries []store.Entry `json:"entries"`
}

// A Deletion is the answer to DELETE /tenants/{tenant}/entries.
type Deletion struct {
	// ForgottenAtEpoch is the epoch up to which the tenant's copies are dead.
	// The next tenure starts with an empty ledger.
	ForgottenAtEpoch uint64 `json:"forgotten_at_epoch"`
}

func (r *Replica) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("DELETE /tenants/{tenant}/entries", r.serveDelete)
	mux.HandleFunc("POST /tenants/{tenant}/entries", r.serveAppend)
	mux.HandleFunc("GET /tenants/{tenant}/entries", r.serveEntries)
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { jsonAnswer(http.StatusOK, r.Status()).write(w) })
	mux.HandleFunc("POST /handover", r.serveHandover)
	return mux
}

func (r *Replica) serveAppend(w http.ResponseWriter, req *http.Request) {
	var body Append
	if err := readBody(w, req, &body); err != nil {
		refusal(err).write(w)
		return
	}
	r.answer(req.Context(), newRequest(req, body, func(ctx context.Context, t *tenancy) (any, error) {
		var entry store.Entry
		err := t.do(ctx, func(ctx context.Context, l *store.Ledger) (err error) {
			entry, err = l.Append(ctx, body.ID, body.Text)
			return err
		})
		if err != nil {
			return nil, err
		}
		r.counts.acknowledged.Add(1)
		return Acknowledgement{Seq: entry.Seq, Epoch: entry.Epoch, Replica: r.cfg.ID}, nil
	})).write(w)
}

func (r *Replica) serveEntries(w http.ResponseWriter, req *http.Request) {
	r.answer(req.Context(), newRequest(req, nil, func(ctx context.Context, t *tenancy) (any, error) {
		reading := Reading{Tenant: req.PathValue("tenant"), Epoch: t.lease.Epoch(), Replica: r.cfg.ID}
		err := t.do(ctx, func(ctx context.Context, l *store.Ledger) (err error) {
			reading.Entries, err = l.Entries(ctx)
			return err
		})
		return reading, err
	})).write(w)
}

// serveDelete forgets the tenant's copies. A retry whose first try had succeeded
// forgets what was appended since as well.
func (r *Replica) serveDelete(w http.ResponseWriter, req *http.Request) {
	r.answer(req.Context(), newRequest(req, nil, func(ctx context.Context, t *tenancy) (any, error) {
		record, err := t.forget(ctx)
		return Deletion{ForgottenAtEpoch: record.ForgottenAtEpoch}, err
	})).write(w)
}

func (r *Replica) serveHandover(w http.ResponseWriter, req *http.Request) {
	var h handover
	if err := readBody(w, req, &h); err != nil {
		refusal(err).write(w)
		return
	}
	if _, ok := peer(r.cfg.Peers, h.To); !ok {
		refusal(&tenure.InvalidError{Field: "to", Value: fmt.Sprintf("%q", h.To), Bound: "a replica of this fleet"}).write(w)
		return
	}
	jsonAnswer(http.StatusOK, map[string]int{"handed_over": r.handOver(h)}).write(w)
}

// readBody decodes a JSON body. It refuses what it doesn't know.
func readBody(w http.ResponseWriter, req *http.Request, into any) error {
	data, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		return &tenure.InvalidError{Field: "body", Value: err.Error(), Bound: fmt.Sprintf("at most %d bytes", maxBody)}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return &tenure.InvalidError{Field: "body", Value: err.Error(), Bound: "a JSON object as the README shows it"}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return &tenure.InvalidError{Field: "body", Value: "two values", Bound: "one JSON object"}
	}
	return nil
}

func (r *Replica) knows(tenant string) bool {
	_, ok := r.placement.orders[tenant]
	return ok
}
