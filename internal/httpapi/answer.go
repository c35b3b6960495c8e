package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"example.com/tenure"
)

// A refusal of HTTP's own has a status that its error doesn't tell.
type refusedRequest struct {
	*tenure.InvalidError
	status int
	allow  string // methods, if that is what was refused
}

// Unwrap returns the error, for the refusal's text.
func (r *refusedRequest) Unwrap() error { return r.InvalidError }

func refusedWith(status int, field, value, bound string) *refusedRequest {
	return &refusedRequest{InvalidError: &tenure.InvalidError{Field: field, Value: value, Bound: bound}, status: status}
}

func invalid(field, value, bound string) error {
	return &tenure.InvalidError{Field: field, Value: value, Bound: bound}
}

// refuse answers a whole request with a refusal.
func refuse(w http.ResponseWriter, err error) {
	refusal := RefusalOf(err)
	status := refusal.status()
	var request *refusedRequest
	if errors.As(err, &request) {
		status = request.status
		if request.allow != "" {
			w.Header().Set("Allow", request.allow)
		}
	}
	write(w, status, refusal)
}

// write answers with an object and a newline.
func write(w http.ResponseWriter, status int, answer any) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		// No type of the API can get here; but an answer that can't be written
		// must not look like a success.
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(body.Len()))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // fails only if the client is gone
}
