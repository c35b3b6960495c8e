package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/tenure"
)

const (
	// KeepAlive is how often a watch sends a comment, so that either end
	// notices when the other has gone.
	KeepAlive = 15 * time.Second

	// sendTime is how long a client may take to receive a piece of a watch. One
	// that takes longer is cut off; it can resume.
	sendTime = 30 * time.Second

	// sendSize is how many bytes of events are put together before they are
	// sent although more are ready.
	sendSize = 32 << 10
)

// watch answers GET /v1/watch with server-sent events. The id of an event is
// the index of its log entry, and only the last event of an entry has it, so
// that a client which saw a part of an entry resumes before it: it gets that
// part again and misses nothing. The first id comes at once, without an event:
// a client that loses its connection before the first change resumes as well.
func (s *server) watch(r *request) error {
	options, err := watchOptions(r)
	if err != nil {
		return err
	}
	start := options.After
	if !options.HasAfter {
		start = s.backend.Status().AppliedIndex // before the watch begins, so not behind it
	}
	watcher, err := s.backend.Watch(options)
	if err != nil {
		return reading(err)
	}
	header := r.writer.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Connection", "close") // no request after this one inherits the write deadline
	stream := &stream{control: http.NewResponseController(r.writer), writer: r.writer}
	fmt.Fprintf(&stream.buffer, "id: %d\n\n", start)
	stream.run(r.Context(), watcher)
	return nil
}

// watchOptions reads the query and header of a watch.
func watchOptions(r *request) (o WatchOptions, err error) {
	values, err := query(r, "prefix", "key")
	if err != nil {
		return o, err
	}
	o.Prefix, o.Key = values.Get("prefix"), values.Get("key")
	switch {
	case values.Has("prefix") && values.Has("key"):
		return o, invalid("prefix", shown([]byte(o.Prefix)), "left out where a key is given")
	case values.Has("key"):
		if err := tenure.ValidateKey(o.Key); err != nil {
			return o, err
		}
	case len(o.Prefix) > tenure.MaxKeyBytes:
		return o, invalid("prefix", shown([]byte(o.Prefix)), fmt.Sprintf("at most %d bytes", tenure.MaxKeyBytes))
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		o.HasAfter = true
		if o.After, err = strconv.ParseUint(last, 10, 64); err != nil {
			return o, invalid("Last-Event-ID", shown([]byte(last)), "the id of an event, a whole number")
		}
	}
	return o, nil
}

// A stream writes the events of a watch.
type stream struct {
	control *http.ResponseController
	writer  http.ResponseWriter
	buffer  bytes.Buffer
}

// A change is what Next returned.
type change struct {
	event tenure.Event
	last  bool // of its entry
	err   error
}

// run writes what the watcher sees until one of the two ends, and closes the
// watcher.
func (s *stream) run(ctx context.Context, watcher Watcher) {
	ctx, cancel := context.WithCancel(ctx)
	changes := make(chan change, 64)
	go pump(ctx, watcher, changes)
	defer func() {
		cancel()
		watcher.Close()
		for range changes { // until the pump has stopped
		}
	}()
	tick := time.NewTicker(KeepAlive)
	defer tick.Stop()
	for {
		if (len(changes) == 0 || s.buffer.Len() > sendSize) && !s.send() {
			return
		}
		select {
		case c := <-changes:
			if c.err != nil {
				s.end(c.err)
				return
			}
			s.add(c)
		case <-tick.C:
			s.buffer.WriteString(": alive\n\n")
		case <-ctx.Done():
			return
		}
	}
}

// pump hands on what the watcher sees, its end included, until ctx ends. What
// it has handed on and is not written yet goes out in one piece.
func pump(ctx context.Context, watcher Watcher, changes chan<- change) {
	defer close(changes)
	for {
		event, err := watcher.Next(ctx)
		select {
		case changes <- change{event, !watcher.More(), err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (s *stream) add(c change) {
	fmt.Fprintf(&s.buffer, "event: %s\n", c.event.Kind)
	if c.last {
		fmt.Fprintf(&s.buffer, "id: %d\n", c.event.Index)
	}
	s.buffer.WriteString("data: ")
	encoder := json.NewEncoder(&s.buffer) // writes one line, and its end
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(EventOf(c.event)); err != nil {
		fmt.Fprintf(&s.buffer, "%s\n", err)
	}
	s.buffer.WriteByte('\n')
}

// end says why the watch ends.
func (s *stream) end(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	fmt.Fprintf(&s.buffer, ": the watch ends: %s\n\n", strings.Join(strings.Fields(err.Error()), " "))
	s.send()
}

// send writes what there is, and reports whether the client is still there.
func (s *stream) send() bool {
	if s.buffer.Len() == 0 {
		return true
	}
	err := s.control.SetWriteDeadline(time.Now().Add(sendTime))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false
	}
	if _, err := s.writer.Write(s.buffer.Bytes()); err != nil {
		return false
	}
	s.buffer.Reset()
	return s.control.Flush() == nil
}
