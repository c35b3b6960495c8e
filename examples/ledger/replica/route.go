package replica

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	// answerTime is how long a request for a tenant that is moving is tried
	// before it is answered as unavailable.
	answerTime = 5 * time.Second
	tryEvery   = 20 * time.Millisecond
	// forwardTime is how long the owner may take. One that is frozen, or gone
	// with its host, says nothing; by the next try it may be another.
	forwardTime = time.Second

	// confirmEvery is after how many tries the cluster is asked who the owner
	// is, instead of the embedded node.
	confirmEvery = 10
	confirmTime  = time.Second

	// forwardedBy is the header of a request that a replica has passed on. It
	// is not passed on again.
	forwardedBy = "Ledger-Forwarded-By"
)

// A request is one for a tenant. It can be done again and again, because an
// entry's id makes it one.
type request struct {
	method, path string
	tenant       string
	body         any
	forwarded    bool // by another replica: this is the last hop
	// here does it where the tenant is owned, and returns the answer's content.
	here func(context.Context, *tenancy) (any, error)
}

func newRequest(req *http.Request, body any, here func(context.Context, *tenancy) (any, error)) request {
	return request{method: req.Method, path: req.URL.Path, tenant: req.PathValue("tenant"), body: body,
		forwarded: req.Header.Get(forwardedBy) != "", here: here}
}

// answer has a request done, here or at the tenant's owner. While the tenant
// moves it tries again, for a while.
func (r *Replica) answer(ctx context.Context, req request) answer {
	if !r.knows(req.tenant) {
		return jsonAnswer(http.StatusNotFound, map[string]string{"error": "unknown_tenant", "message": fmt.Sprintf("there is no tenant %q", req.tenant)})
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	for tries := 1; ; tries++ {
		a, err := r.try(ctx, req, tries)
		if err == nil {
			return a
		}
		if req.forwarded || definite(err) {
			return refusal(err)
		}
		if sleep(ctx, tryEvery); ctx.Err() != nil {
			r.counts.refused.Add(1)
			return refusal(fmt.Errorf("%s: not acknowledged within %v, try again with the same entry id: %w", req.tenant, answerTime, hide(err)))
		}
	}
}

// hide makes errNotHere one that says nothing of this replica: to the client it
// is the fleet that has no owner for the tenant.
func hide(err error) error {
	if errors.Is(err, errNotHere) {
		return errNobody
	}
	return err
}

// confirmedOwner asks the lease cluster who owns a tenant, where the lookup in the
// embedded node led nowhere: a node that was away knows the owners of before until
// it has caught up.
func (r *Replica) confirmedOwner(ctx context.Context, tenant string) string {
	ctx, cancel := context.WithTimeout(ctx, confirmTime)
	defer cancel()
	view, err := r.node.Get(ctx, tenant)
	if err != nil || !view.Record.Held || view.Expired {
		return ""
	}
	return replicaOf(view.Record.Owner)
}

// try does the request once, here if this replica owns the tenant, else at the
// owner.
func (r *Replica) try(ctx context.Context, req request, tries int) (answer, error) {
	if t := r.table.tenancy(req.tenant); t != nil {
		content, err := req.here(ctx, t)
		if err != nil {
			return answer{}, err
		}
		return jsonAnswer(http.StatusOK, content), nil
	}
	if req.forwarded {
		return answer{}, errNotHere
	}
	owner := r.owner(req.tenant)
	if tries%confirmEvery == 0 {
		owner = r.confirmedOwner(ctx, req.tenant)
	}
	if owner == r.cfg.ID {
		return answer{}, errNotHere // the tenure of an earlier incarnation, or one that is just opening its ledger
	}
	to, ok := peer(r.cfg.Peers, owner)
	if !ok {
		return answer{}, errNobody
	}
	return r.pass(ctx, req, to)
}

// pass has the request done by another replica.
func (r *Replica) pass(ctx context.Context, req request, to Peer) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, forwardTime)
	defer cancel()
	a, err := r.send(ctx, to, req.method, req.path, req.body)
	if err != nil {
		return answer{}, err
	}
	if a.status == http.StatusMisdirectedRequest || a.status == http.StatusServiceUnavailable {
		return answer{}, fmt.Errorf("%s, the owner as it seems, answered: %s", to.ID, bytes.TrimSpace(a.body))
	}
	r.counts.forwarded.Add(1)
	return a, nil
}

// send makes a request to another replica, which doesn't pass it on. After an
// error it may have been done or not.
func (r *Replica) send(ctx context.Context, to Peer, method, path string, content any) (answer, error) {
	var body io.Reader
	if content != nil {
		data, err := json.Marshal(content)
		if err != nil {
			return answer{}, fmt.Errorf("encode a request to %s: %w", to.ID, err)
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+to.HTTP+path, body)
	if err != nil {
		return answer{}, fmt.Errorf("make a request to %s: %w", to.ID, err)
	}
	req.Header.Set(forwardedBy, r.cfg.ID)
	res, err := r.peers.Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("ask %s: %w", to.ID, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, fmt.Errorf("read the answer of %s: %w", to.ID, err)
	}
	return answer{status: res.StatusCode, body: data}, nil
}
