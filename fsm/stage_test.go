package fsm

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A stage is where a story plays.
type stage struct {
	t     *testing.T
	state *State
	index uint64
}

// play plays a step and returns what comes of it.
func (s *stage) play(lines []string) []string {
	verb, args, _ := strings.Cut(lines[0], " ")
	if directive, ok := map[string]func(arguments) []string{
		"index":   s.jump,
		"look":    s.look,
		"number":  s.number,
		"request": s.request,
		"list":    s.list,
		"state":   s.describe,
		"restore": s.restore,
		"end":     s.end,
	}[verb]; ok {
		return directive(parse(args))
	}
	var commands []Command
	for _, line := range lines {
		verb, args, _ := strings.Cut(line, " ")
		commands = append(commands, s.command(verb, parse(args)))
	}
	return s.apply(commands)
}

// apply sends the commands through the encoding, and the entry through the
// state.
func (s *stage) apply(commands []Command) []string {
	entry, err := AppendEntry(nil, commands)
	if err != nil {
		return []string{"not encoded: " + err.Error()}
	}
	decoded, err := DecodeEntry(entry)
	if err != nil || !reflect.DeepEqual(decoded, commands) {
		s.t.Fatalf("decoded %+v, %v; want %+v", decoded, err, commands)
	}
	s.index++
	results, err := s.state.Apply(s.index, entry, nil)
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	var out []string
	for _, r := range results {
		out = append(out, strconv.FormatUint(s.index, 10)+": "+tellResult(r))
	}
	return out
}

func (s *stage) command(verb string, a arguments) Command {
	kinds := map[string]Kind{"acquire": Acquire, "renew": Renew, "release": Release, "forget": Forget, "cluster": Cluster}
	kind, ok := kinds[verb]
	if !ok {
		s.t.Fatalf("unknown verb %q", verb)
	}
	return Command{
		Kind:      kind,
		Key:       a.key(),
		Owner:     a.text("owner"),
		RequestID: a.text("id"),
		Epoch:     a.number("epoch"),
		TTL:       a.duration("ttl"),
		Evidence:  Evidence{Epoch: a.pair("expired", 0), GrantIndex: a.pair("expired", 1), Marker: a.number("marker")},
		Number:    Number{Slot: uint32(a.pair("number", 0)), Serial: a.pair("number", 1)},
		Settings: Settings{
			ClusterID:   a.text("name"),
			LargestTTL:  a.duration("largest"),
			ClearMarker: a.number("clear"),
			ResumeFloor: a.text("floor") == "resume",
		},
	}
}

func (s *stage) jump(a arguments) []string {
	s.index = a.number("next") - 1
	return nil
}

func (s *stage) look(a arguments) []string { return []string{tellLookup(s.state.Lookup(a.key()))} }

func (s *stage) number(a arguments) []string {
	n, ok := numberFor(s.state, a.key(), a.text("owner"), a.number("epoch"))
	if !ok {
		return []string{"none"}
	}
	l, _ := s.state.Tenure(n)
	return []string{fmt.Sprintf("%d/%d is %s", n.Slot, n.Serial, tellLookup(l))}
}

func (s *stage) request(a arguments) []string {
	present, last := s.state.IsRequest(a.key(), a.text("owner"), a.text("id"))
	return []string{fmt.Sprintf("present %v, last %v", present, last)}
}

func (s *stage) list(a arguments) []string {
	page, next := s.state.List(a.text("prefix"), a.text("owner"), a.text("cursor"), int(a.number("limit")))
	var out []string
	for _, l := range page {
		out = append(out, tellLookup(l))
	}
	return append(out, fmt.Sprintf("next %q", next))
}

func (s *stage) describe(arguments) []string {
	id, largest := s.state.Cluster()
	marker, standing := s.state.Marker()
	_, window := s.state.MarkerWindow()
	records, held := s.state.Len()
	out := []string{
		fmt.Sprintf("cluster %q, largest ttl %v", id, largest),
		fmt.Sprintf("floor %d, base %d, marker %d standing %v for %v", s.state.Floor(), s.state.Base(), marker, standing, window),
		fmt.Sprintf("%d records, %d held", records, held),
	}
	s.state.Each(func(l Lookup) bool {
		out = append(out, tellLookup(l))
		return true
	})
	return out
}

// restore goes on with a state restored from a snapshot.
func (s *stage) restore(arguments) []string {
	restored, err := Restore(bytes.NewReader(snapshotBytes(s.t, s.state)))
	if err != nil {
		s.t.Fatal(err)
	}
	s.state = restored
	return nil
}

// end goes on as a new cluster, restored from a backup.
func (s *stage) end(a arguments) []string {
	ended, err := s.state.Ended(a.number("base"), a.text("name"), a.duration("window"))
	if err != nil {
		return []string{err.Error()}
	}
	s.state, s.index = ended, 0
	return nil
}

// arguments are those of a line, by name; that of the key is empty.
type arguments map[string]string

func parse(line string) arguments {
	a := arguments{}
	for _, word := range strings.Fields(line) {
		name, value, named := strings.Cut(word, "=")
		if !named {
			name, value = "", name
		}
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		a[name] = value
	}
	return a
}

func (a arguments) key() string             { return a[""] }
func (a arguments) text(name string) string { return a[name] }

func (a arguments) number(name string) uint64 {
	n, _ := strconv.ParseUint(a[name], 0, 64)
	return n
}

func (a arguments) pair(name string, at int) uint64 {
	parts := strings.Split(a[name]+"//", "/")
	n, _ := strconv.ParseUint(parts[at], 0, 64)
	return n
}

func (a arguments) duration(name string) time.Duration {
	d, _ := time.ParseDuration(a[name])
	return d
}

func tellResult(r Result) string {
	codes := map[Code]string{Granted: "granted", Renewed: "renewed", Released: "released", Forgotten: "forgotten", Changed: "changed", Held: "held", Lost: "lost", Invalid: "invalid"}
	out := codes[r.Code]
	switch {
	case r.Reason != "":
		return out + ": " + strings.TrimPrefix(r.Reason, "invalid ")
	case r.Record == Record{}:
		return out
	}
	out += " " + tellRecord(r.Record)
	if r.GrantIndex != 0 {
		out += fmt.Sprintf(", ttl %v, grant %d", r.TTL, r.GrantIndex)
	}
	if r.Number != (Number{}) {
		out += fmt.Sprintf(", number %d/%d", r.Number.Slot, r.Number.Serial)
	}
	if r.Previous != (Previous{}) {
		out += fmt.Sprintf(", after %s epoch %d", r.Previous.Owner, r.Previous.Epoch)
	}
	return out
}

func tellLookup(l Lookup) string {
	if !l.Known {
		return fmt.Sprintf("%s without a record, next above epoch %d, forgotten %d", l.Record.Key, l.Record.Epoch, l.Record.ForgottenAtEpoch)
	}
	return tellResult(Result{Record: l.Record, TTL: l.TTL, GrantIndex: l.GrantIndex, Number: l.Number})[1:]
}

func tellRecord(r Record) string {
	holder := "free, last"
	if r.Held {
		holder = "held by"
	}
	if r.Key == "" { // a renewal's
		return fmt.Sprintf("epoch %d, forgotten %d", r.Epoch, r.ForgottenAtEpoch)
	}
	owner := r.Owner
	if owner == "" {
		owner = "nobody known"
	}
	return fmt.Sprintf("%s %s %s, epoch %d, forgotten %d", r.Key, holder, owner, r.Epoch, r.ForgottenAtEpoch)
}
