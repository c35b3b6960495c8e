package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"example.com/tenure"
)

const (
	// TimeoutHeader is the header of a request that says, in whole
	// milliseconds, within which time the caller wants an answer, its wait in
	// line included. The node answers then at the latest, and can still say that
	// nothing was applied, where a caller that hangs up would not know.
	TimeoutHeader = "Tenure-Timeout-Ms"

	// Allowance is how long the server works on a request, beyond the longest
	// wait that it asks for, before it answers that the outcome is unknown, if
	// the caller doesn't want to know sooner.
	Allowance = 30 * time.Second

	// MaxTimeout is the longest that a TimeoutHeader can ask for.
	MaxTimeout = tenure.MaxWait + Allowance
)

// timeoutOf returns what the request's TimeoutHeader says, or MaxTimeout.
func timeoutOf(r *http.Request) (time.Duration, error) {
	given, ok := r.Header[TimeoutHeader]
	if !ok {
		return MaxTimeout, nil
	}
	millis, err := strconv.ParseInt(given[0], 10, 64)
	if err != nil || millis < 1 || millis > MaxTimeout.Milliseconds() || len(given) > 1 {
		return 0, invalid(TimeoutHeader+" header", shown([]byte(given[0])), fmt.Sprintf("given once, from 1 to %d", MaxTimeout.Milliseconds()))
	}
	return time.Duration(millis) * time.Millisecond, nil
}

// bounded returns the context under which a request is worked on that waits
// for at most so long.
func bounded(r *request, wait time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.Context(), min(wait+Allowance, r.timeout))
}

// onItsWay is how long an answer may be on its way back.
const onItsWay = 250 * time.Millisecond

// askTimeout has the node answer before ctx ends.
func askTimeout(ctx context.Context, header http.Header) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return
	}
	left := time.Until(deadline)
	left = min(left-min(left/10, onItsWay), MaxTimeout)
	header.Set(TimeoutHeader, strconv.FormatInt(max(left.Milliseconds(), 1), 10))
}
