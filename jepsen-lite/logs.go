package jepsenlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// logs are the files in which nodes and replicas log, a file each, over all of
// their incarnations.
type logs struct {
	dir string

	mu    sync.Mutex
	files map[string]*os.File
	err   error // the first one
}

func newLogs(dir string) *logs { return &logs{dir: dir, files: make(map[string]*os.File)} }

func (l *logs) logger(name string) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: name, Level: hclog.Info, Output: l.file(name)})
}

func (l *logs) file(name string) io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[name]
	if f == nil {
		var err error
		if f, err = os.Create(filepath.Join(l.dir, name+".log")); err != nil {
			l.err = errors.Join(l.err, fmt.Errorf("log of %s: %w", name, err))
			return io.Discard
		}
		l.files[name] = f
	}
	return f
}

func (l *logs) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.files {
		l.err = errors.Join(l.err, f.Close())
	}
	return l.err
}
