package history

import (
	"fmt"
	"os"
	"sync"
)

// A Writer appends events to a file. It can be used concurrently.
type Writer struct {
	mu   sync.Mutex
	file *os.File
	line int
	err  error // the first one; nothing is written after it
}

// Create makes a history file, which must not exist yet.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create history: %w", err)
	}
	return &Writer{file: f}, nil
}

// Write appends one event, in one write to the file, before it returns. An
// event that lacks what its kind must say is refused, and so is everything
// after a failed write: a history with a hole proves nothing.
func (w *Writer) Write(e Event) error {
	if err := e.validate(); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	b, err := e.appendLine(nil)
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if _, err := w.file.Write(append(b, '\n')); err != nil {
		w.err = fmt.Errorf("write history %s: %w", w.file.Name(), err)
		return w.err
	}
	w.line++
	return nil
}

// Lines returns how many events were written.
func (w *Writer) Lines() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.line
}

// Close closes the file and returns the first error of the writer.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.file.Close(); err != nil && w.err == nil {
		w.err = fmt.Errorf("close history: %w", err)
	}
	return w.err
}
