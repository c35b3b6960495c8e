package leader

import (
	"container/list"
	"time"

	"example.com/tenure/fsm"
)

// lines are the lines of all keys that have one.
//
// Invariants: a line in byKey has at least one place; every place is in byAsk;
// only the head of a line is ever in flight.
type lines struct {
	byKey  map[string]*line
	byAsk  map[ask]*place
	ready  []*line // whose heads may be grantable
	agenda agenda  // when lines and askers have to be looked at
}

// A line is those who wait for a key, first come, first served.
type line struct {
	key    string
	places list.List    // of *place
	visit  *appointment // when the key may have expired
	ready  bool         // it is in lines.ready
}

// A place is where one (owner, request id) stands in a line. Who asks again
// under the same id joins the place.
type place struct {
	line     *line
	at       *list.Element
	command  fsm.Command
	askers   []*asker
	inFlight bool
}

// An asker is one command of a request that stands in line.
type asker struct {
	req   *Request
	item  int
	place *place
	end   *appointment // of its wait
}

// An ask is what a place is for.
type ask struct{ key, owner, requestID string }

func askOf(c *fsm.Command) ask { return ask{c.Key, c.Owner, c.RequestID} }

func newLines() lines {
	return lines{byKey: make(map[string]*line), byAsk: make(map[ask]*place)}
}

// waiting returns the number of places in all lines.
func (ls *lines) waiting() int { return len(ls.byAsk) }

func (ls *lines) has(key string) bool {
	_, ok := ls.byKey[key]
	return ok
}

// stands reports whether an (owner, request id) stands in the key's line, or is
// the head whose command is in flight.
func (ls *lines) stands(id ask) bool {
	_, ok := ls.byAsk[id]
	return ok
}

// enter puts an asker into the key's line until its wait ends: into the place
// of the same owner and request id, or behind all others.
func (ls *lines) enter(a *asker, end time.Duration) {
	command := a.req.command(a.item)
	p, ok := ls.byAsk[askOf(command)]
	if !ok {
		p = ls.append(*command)
	}
	p.command.TTL = max(p.command.TTL, command.TTL)
	p.askers = append(p.askers, a)
	a.place = p
	a.end = ls.agenda.add(&appointment{due: end, asker: a})
}

// append adds a place at the end of the key's line. A new line is looked at
// with the next entry.
func (ls *lines) append(command fsm.Command) *place {
	l, ok := ls.byKey[command.Key]
	if !ok {
		l = &line{key: command.Key}
		ls.byKey[command.Key] = l
		ls.wake(l)
	}
	p := &place{line: l, command: command}
	p.at = l.places.PushBack(p)
	ls.byAsk[askOf(&command)] = p
	return p
}

func (l *line) head() *place { return l.places.Front().Value.(*place) }

// wake has the line's head looked at when the next entry is built.
func (ls *lines) wake(l *line) {
	if !l.ready {
		l.ready = true
		ls.ready = append(ls.ready, l)
	}
}

// wakeKey wakes the key's line, if it has one.
func (ls *lines) wakeKey(key string) {
	if l, ok := ls.byKey[key]; ok {
		ls.wake(l)
	}
}

// visitAt has the line woken at due, when the tenure it waits for may have
// expired.
func (ls *lines) visitAt(l *line, due time.Duration) {
	ls.agenda.drop(l.visit)
	l.visit = ls.agenda.add(&appointment{due: due, line: l})
}

// leave takes an asker out of its place. A place that nobody asks for any more
// goes too, unless its command is in flight: then its result decides.
func (ls *lines) leave(a *asker) {
	ls.agenda.drop(a.end)
	p := a.place
	for i, other := range p.askers {
		if other == a {
			p.askers = append(p.askers[:i], p.askers[i+1:]...)
			break
		}
	}
	if len(p.askers) == 0 && !p.inFlight {
		ls.remove(p)
	}
}

// remove takes a place out of its line, and the line away with its last place.
// The next in line is looked at with the next entry.
func (ls *lines) remove(p *place) {
	if ls.byAsk[askOf(&p.command)] != p {
		return // it has left already, and its names may be another's by now
	}
	l := p.line
	l.places.Remove(p.at)
	delete(ls.byAsk, askOf(&p.command))
	if l.places.Len() > 0 {
		ls.wake(l)
		return
	}
	ls.agenda.drop(l.visit)
	delete(ls.byKey, l.key)
}

// takeReady returns the lines that were woken and still have places.
func (ls *lines) takeReady() []*line {
	woken := ls.ready
	ls.ready = nil
	out := woken[:0]
	for _, l := range woken {
		l.ready = false
		if l.places.Len() > 0 {
			out = append(out, l)
		}
	}
	return out
}
