package replica

import (
	"encoding/json"
	"errors"
	"net/http"

	"example.com/tenure"
	"example.com/tenure/examples/ledger/store"
)

// errNotHere says that this replica doesn't own the tenant.
var errNotHere = errors.New("this replica does not own the tenant")

// errNobody says that no replica that can be reached owns the tenant now.
var errNobody = errors.New("no replica owns the tenant at the moment")

// An answer is a response of the API.
type answer struct {
	status int
	body   []byte
}

func jsonAnswer(status int, content any) answer {
	body, err := json.Marshal(content)
	if err != nil { // of what only this package makes
		return answer{status: http.StatusInternalServerError}
	}
	return answer{status: status, body: append(body, '\n')}
}

// definite reports whether err says that the request can't succeed, wherever it
// is sent.
func definite(err error) bool {
	var conflict *store.ConflictError
	return errors.Is(err, tenure.ErrInvalid) || errors.As(err, &conflict)
}

// refusal is the answer to a request that failed.
func refusal(err error) answer {
	status, kind := http.StatusServiceUnavailable, "unavailable"
	switch {
	case errors.Is(err, tenure.ErrInvalid):
		status, kind = http.StatusBadRequest, "invalid"
	case definite(err):
		status, kind = http.StatusConflict, "conflict"
	case errors.Is(err, errNotHere):
		status, kind = http.StatusMisdirectedRequest, "not_here"
	}
	return jsonAnswer(status, map[string]string{"error": kind, "message": err.Error()})
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if a.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(a.status)
	w.Write(a.body) // a client that has gone needs no answer
}
