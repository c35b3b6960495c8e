package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/tenure"
)

const (
	// silence is how long a watch hears nothing, not even a comment, before
	// the client takes the connection for dead.
	silence = 3 * KeepAlive

	// patience is for how long a watch that was cut off tries to go on, and
	// backOffFirst and backOffMost how long it rests between attempts.
	patience     = 30 * time.Second
	backOffFirst = 100 * time.Millisecond
	backOffMost  = 2 * time.Second
)

// Watch calls each with the changes, in the order of the log, until each fails,
// ctx ends, or no node serves the watch any more. A watch that is cut off goes
// on where it was, at the next node; it never calls each twice with one change,
// and what it misses it says with an event named missed. It calls begun once,
// before each, when a node watches: no change after that instant is overlooked.
// The error is that of each, or else one of package tenure's.
func (c *Client) Watch(ctx context.Context, o WatchOptions, begun func(), each func(Event) error) error {
	query := url.Values{}
	if o.Prefix != "" {
		query.Set("prefix", o.Prefix)
	}
	if o.Key != "" {
		query.Set("key", o.Key)
	}
	w := &watching{client: c, path: withQuery("/v1/watch", query), each: each}
	if o.HasAfter {
		w.lastID = strconv.FormatUint(o.After, 10)
	}
	w.tell = sync.OnceFunc(begun)
	if err := w.once(ctx); !w.goesOn(ctx, err) || !w.begun {
		return err
	}
	return w.resume(ctx)
}

// A watching is one call of Watch.
type watching struct {
	client *Client
	path   string
	each   func(Event) error
	failed error  // of each
	begun  bool   // a node has served the watch
	tell   func() // tells the first time that one does

	lastID string // of the newest entry that was seen whole, "" if none was told
	// Of an entry that was seen in part and comes again after a cut: its index,
	// how many of its events each has had, and how many came on this connection.
	entry   uint64
	had     int
	current int
}

// goesOn reports whether the end of a connection is not the end of the watch.
func (w *watching) goesOn(ctx context.Context, err error) bool {
	return w.failed == nil && ctx.Err() == nil && !errors.Is(err, tenure.ErrInvalid)
}

// resume connects again and again, until no node has served the watch for as
// long as its patience lasts.
func (w *watching) resume(ctx context.Context) error {
	since, pause := time.Now(), backOffFirst
	for {
		if err := sleep(ctx, pause); err != nil {
			return interrupted(ctx, "", false, "watching", err)
		}
		pause = min(2*pause, backOffMost)
		w.begun = false
		err := w.once(ctx)
		if !w.goesOn(ctx, err) {
			return err
		}
		if w.begun {
			since, pause = time.Now(), backOffFirst
		} else if time.Since(since) > patience {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once reads one connection to its end, and returns why it ended.
func (w *watching) once(ctx context.Context) error {
	attempt, cancel := context.WithCancel(ctx)
	defer cancel()
	header := http.Header{"Accept": {"text/event-stream"}}
	if w.lastID != "" {
		header.Set("Last-Event-ID", w.lastID)
	}
	dead := time.AfterFunc(silence, cancel)
	defer dead.Stop()
	response, err := w.client.open(attempt, call{method: http.MethodGet, path: w.path, header: header})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	w.begun, w.current = true, 0
	w.tell()
	err = w.read(response.Body, func() { dead.Reset(silence) })
	if w.failed != nil {
		return w.failed
	}
	return interrupted(ctx, "", false, "the watch was cut off", err)
}

// read reads the stream, and calls alive with every line.
func (w *watching) read(body io.Reader, alive func()) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	var id, data string
	for lines.Scan() {
		alive()
		line := lines.Text()
		if line == "" {
			if err := w.take(id, data); err != nil {
				return err
			}
			id, data = "", ""
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimPrefix(value, " "); field {
		case "id":
			id = value
		case "data":
			data += value
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

// take takes one message of the stream; either part of it may be left out.
func (w *watching) take(id, data string) error {
	if data != "" {
		var e Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return fmt.Errorf("an event can't be read: %w", err)
		}
		if err := w.deliver(e); err != nil {
			w.failed = err
			return err
		}
	}
	if id != "" {
		w.lastID = id
	}
	return nil
}

// deliver calls each, unless it has had the event before the cut.
func (w *watching) deliver(e Event) error {
	if e.Index != w.entry {
		w.entry, w.had, w.current = e.Index, 0, 0
	}
	if e.Event != tenure.EventMissed.String() {
		w.current++
		if w.current <= w.had {
			return nil
		}
		w.had = w.current
	}
	return w.each(e)
}
