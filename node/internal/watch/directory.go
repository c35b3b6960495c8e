package watch

import (
	"slices"

	"example.com/tenure"
)

// A directory finds the watchers that an event concerns.
type directory struct {
	byKey    map[string]set
	byPrefix map[string]set
	lengths  []int       // of the prefixes in byPrefix, ascending, each once
	ofLength map[int]int // how many prefixes there are of each length
}

type set map[*Watcher]struct{}

func newDirectory() directory {
	return directory{byKey: map[string]set{}, byPrefix: map[string]set{}, ofLength: map[int]int{}}
}

// place returns where the watchers with that filter are.
func (d *directory) place(f filter) (group map[string]set, name string) {
	if f.key != "" {
		return d.byKey, f.key
	}
	return d.byPrefix, f.prefix
}

func (d *directory) add(w *Watcher) {
	group, name := d.place(w.filter)
	if group[name] == nil {
		group[name] = set{}
		if w.filter.key == "" {
			d.addLength(len(name))
		}
	}
	group[name][w] = struct{}{}
}

func (d *directory) remove(w *Watcher) {
	group, name := d.place(w.filter)
	delete(group[name], w)
	if len(group[name]) > 0 {
		return
	}
	delete(group, name)
	if w.filter.key == "" {
		d.removeLength(len(name))
	}
}

func (d *directory) addLength(n int) {
	d.ofLength[n]++
	if at, found := slices.BinarySearch(d.lengths, n); !found {
		d.lengths = slices.Insert(d.lengths, at, n)
	}
}

func (d *directory) removeLength(n int) {
	d.ofLength[n]--
	if d.ofLength[n] > 0 {
		return
	}
	delete(d.ofLength, n)
	if at, found := slices.BinarySearch(d.lengths, n); found {
		d.lengths = slices.Delete(d.lengths, at, at+1)
	}
}

// each calls f with the watchers that the event concerns; a gap concerns all.
func (d *directory) each(e *tenure.Event, f func(*Watcher)) {
	if e.Kind == tenure.EventMissed {
		d.all(f)
		return
	}
	key := e.Record.Key
	for w := range d.byKey[key] {
		f(w)
	}
	for _, n := range d.lengths {
		if n > len(key) {
			return
		}
		for w := range d.byPrefix[key[:n]] {
			f(w)
		}
	}
}

func (d *directory) all(f func(*Watcher)) {
	for _, group := range []map[string]set{d.byKey, d.byPrefix} {
		for _, watchers := range group {
			for w := range watchers {
				f(w)
			}
		}
	}
}
