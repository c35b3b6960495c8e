package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// MaxLine is the longest line that [Parse] takes, in bytes.
const MaxLine = 16 << 20

// A LineError says which line of a history can't be used, and why.
type LineError struct {
	Line int // from 1
	Err  error
}

// Error names the line.
func (e *LineError) Error() string { return fmt.Sprintf("history line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *LineError) Unwrap() error { return e.Err }

// ReadFile reads the history in a file.
func ReadFile(path string) (*History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	defer f.Close()
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = info.Size() // a guess will do
	}
	h, err := parse(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// Parse reads a history. A last line that was torn by a crash is left out and
// sets Torn. Every other flaw is a [*LineError].
func Parse(r io.Reader) (*History, error) { return parse(r, 0) }

// lineLength is about how long a line is.
const lineLength = 120

// parse reads a history of about a size, in bytes.
func parse(r io.Reader, size int64) (*History, error) {
	h := &History{Events: make([]Event, 0, size/lineLength)}
	br, plain := bufio.NewReaderSize(r, 64<<10), newPlainReader()
	for line := 1; ; line++ {
		raw, err := readLine(br)
		last := errors.Is(err, io.EOF)
		switch {
		case last && len(raw) == 0:
			return h, h.finish()
		case err != nil && !last:
			return nil, &LineError{line, err}
		}
		e, err := decode(plain, raw)
		switch {
		case err != nil && last:
			h.Torn = true
			return h, h.finish()
		case err != nil:
			return nil, &LineError{line, err}
		}
		e.Line = line
		h.Events = append(h.Events, e)
	}
}

// readLine returns the next line without its end, and io.EOF with a last line
// that has none.
func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxLine:
			return nil, fmt.Errorf("longer than %d bytes", MaxLine)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			return line[:len(line)-1], nil
		}
		return line, err
	}
}

func decode(plain *plainReader, raw []byte) (Event, error) {
	e, ok := plain.read(raw)
	if ok {
		return e, e.validate()
	}
	e = Event{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("more than one object in the line")
	}
	return e, e.validate()
}

// finish sorts by time, since several processes write to one history, and
// pairs what belongs together.
func (h *History) finish() error {
	if len(h.Events) == 0 || h.Events[0].Kind != Run {
		return &LineError{1, fmt.Errorf("a history starts with a %q event", Run)}
	}
	h.Terms = h.Events[0].Terms
	for i, e := range h.Events[1:] {
		if e.Kind == Run {
			return &LineError{h.Events[i+1].Line, errors.New("a second run in one history")}
		}
	}
	byTime := func(a, b Event) int { return cmp.Compare(a.T, b.T) }
	if !slices.IsSortedFunc(h.Events, byTime) {
		slices.SortStableFunc(h.Events, byTime)
	}
	if err := h.pairOperations(); err != nil {
		return err
	}
	return h.pairFaults()
}
