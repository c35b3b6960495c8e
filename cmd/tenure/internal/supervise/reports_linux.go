package supervise

// reports is what the supervisor has to tell the front. To add a report never
// blocks: a front that is stopped and reads nothing must not hold up the
// supervisor, whose alarm may go off meanwhile.
type reports struct {
	waiting chan Report
	sent    chan struct{} // closed when all are
}

// Every report but Stopped comes once at most, so that this is room for all.
const (
	waitingStops   = 8
	waitingReports = waitingStops + 8
)

// newReports returns reports which are sent over a link until they are flushed.
func newReports(front *link) *reports {
	r := &reports{waiting: make(chan Report, waitingReports), sent: make(chan struct{})}
	go r.send(front)
	return r
}

// add tells the front. A stop is left out if the front has not taken in several
// that came before it.
func (r *reports) add(report Report) {
	if report.Kind == Stopped && len(r.waiting) >= waitingStops {
		return
	}
	r.waiting <- report
}

func (r *reports) send(front *link) {
	defer close(r.sent)
	for report := range r.waiting {
		_ = front.send(report) // that the front is gone is noticed by its orders
	}
}

// flush returns when the reports are sent or the front is known not to take
// them. It is the last call.
func (r *reports) flush() {
	close(r.waiting)
	<-r.sent
}
