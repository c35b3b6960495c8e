package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"pgregory.net/rapid"
)

// A machine is a file system in memory that several processes share. It knows
// what a loss of power may leave of it.
type machine struct {
	mu sync.Mutex // for goroutines that run between two steps

	files   map[string]*inode // by path, as all processes see them
	durable map[string]*inode // by path, as of the last sync of the directory
	changes []change          // to names, since then
	scans   []*scan           // listings that have begun and not ended
}

type inode struct {
	data   []byte
	synced int // so many bytes are durable
}

// A change to names: what path is afterwards, and a path that is gone.
type change struct {
	path, gone string
	now        *inode
}

// A scan is a listing in progress. POSIX promises only the names that are there
// from its begin to its end.
type scan struct {
	dir     string
	steady  map[string]bool
	changed map[string]bool
}

var errIO = errors.New("input/output error")

func newMachine() *machine {
	return &machine{files: make(map[string]*inode), durable: make(map[string]*inode)}
}

func (m *machine) apply(c change) {
	for _, path := range []string{c.path, c.gone} {
		if path == "" {
			continue
		}
		for _, s := range m.scans {
			if filepath.Dir(path) == s.dir {
				delete(s.steady, filepath.Base(path))
				s.changed[filepath.Base(path)] = true
			}
		}
	}
	applyTo(m.files, c)
	m.changes = append(m.changes, c)
}

func applyTo(files map[string]*inode, c change) {
	if c.gone != "" {
		delete(files, c.gone)
	}
	if c.path != "" {
		files[c.path] = c.now
	}
}

func (m *machine) beginScan(dir string) *scan {
	s := &scan{dir: dir, steady: make(map[string]bool), changed: make(map[string]bool)}
	for _, name := range m.namesIn(dir) {
		s.steady[name] = true
	}
	m.scans = append(m.scans, s)
	return s
}

// endScan returns the names that were there all the time, and of the others
// none or all.
func (m *machine) endScan(s *scan, others bool) []string {
	m.scans = slices.DeleteFunc(m.scans, func(x *scan) bool { return x == s })
	names := sortedKeys(s.steady)
	if others {
		names = append(names, sortedKeys(s.changed)...)
	}
	return names
}

func (m *machine) namesIn(dir string) []string {
	var names []string
	for path := range m.files {
		if filepath.Dir(path) == dir {
			names = append(names, filepath.Base(path))
		}
	}
	slices.Sort(names)
	return names
}

func (m *machine) create(path string) (*inode, error) {
	if _, ok := m.files[path]; ok {
		return nil, fs.ErrExist
	}
	n := &inode{}
	m.apply(change{path: path, now: n})
	return n, nil
}

func (m *machine) read(path string) ([]byte, error) {
	n, ok := m.files[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(n.data), nil
}

func (m *machine) rename(oldPath, newPath string) error {
	n, ok := m.files[oldPath]
	if !ok {
		return fs.ErrNotExist
	}
	m.apply(change{path: newPath, gone: oldPath, now: n})
	return nil
}

func (m *machine) remove(path string) error {
	if _, ok := m.files[path]; !ok {
		return fs.ErrNotExist
	}
	m.apply(change{gone: path})
	return nil
}

func (m *machine) syncDir() {
	for _, c := range m.changes {
		applyTo(m.durable, c)
	}
	m.changes = nil
}

// sector is what a disk writes whole or not at all; small, so that a line spans
// several.
const sector = 32

// A fate decides what a loss of power leaves of what was not synced.
type fate struct {
	survives func() bool               // a change to names, a sector
	length   func(least, most int) int // of a file
}

// chance is the fate that rapid draws.
func chance(t *rapid.T) fate {
	return fate{
		survives: func() bool { return rapid.Bool().Draw(t, "survives") },
		length:   func(least, most int) int { return rapid.IntRange(least, most).Draw(t, "length") },
	}
}

// cutPower leaves what was synced, and of the rest what fate wants: any of the
// changes to names, and of each file's tail a part, with sectors that were never
// written. All processes have ended.
func (m *machine) cutPower(f fate) {
	for _, c := range m.changes {
		if f.survives() {
			applyTo(m.durable, c)
		}
	}
	m.changes, m.scans = nil, nil
	m.files = make(map[string]*inode)
	for _, path := range sortedKeys(m.durable) {
		n := m.durable[path]
		end := f.length(n.synced, len(n.data))
		data := slices.Clone(n.data[:end])
		for start := n.synced / sector * sector; start < end; start += sector {
			if !f.survives() {
				clear(data[max(start, n.synced):min(start+sector, end)])
			}
		}
		m.durable[path] = &inode{data: data, synced: end}
		m.files[path] = m.durable[path]
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
