package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// read reads the body into one of the request types. There are no query
// parameters with a body.
func read(r *request, into any) error {
	if _, err := query(r); err != nil {
		return err
	}
	if err := checkContentType(r.Header.Get("Content-Type")); err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(r.writer, r.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return refusedWith(http.StatusRequestEntityTooLarge, "body", "of more than "+strconv.Itoa(MaxBody)+" bytes", "at most "+strconv.Itoa(MaxBody)+" bytes")
	case err != nil:
		return invalid("body", "that ends early ("+err.Error()+")", "complete")
	}
	return decodeBody(body, into)
}

// checkContentType refuses a body that says it is something other than JSON. No
// word is fine, and so is what curl -d says unless it is told otherwise.
func checkContentType(header string) error {
	if header == "" {
		return nil
	}
	kind, _, err := mime.ParseMediaType(header)
	if err == nil && (kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json") || kind == "application/x-www-form-urlencoded") {
		return nil
	}
	return refusedWith(http.StatusUnsupportedMediaType, "Content-Type header", strconv.Quote(header), "application/json")
}
