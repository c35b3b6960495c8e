package history

import (
	"encoding/json"
	"strconv"
	"time"
)

// A run writes thousands of events a second of its time and reads them all
// again, which encoding/json takes a quarter of a run's time for. What follows
// writes exactly the same lines, and reads the plain ones among them; all others,
// and every error, are encoding/json's.

// fields are the fields of an event, in the order in which a line has
// them.
var fields = []struct {
	name string
	of   func(*Event) any // a pointer to it
}{
	{"t", func(e *Event) any { return &e.T }},
	{"kind", func(e *Event) any { return &e.Kind }},
	{"f", func(e *Event) any { return &e.F }},
	{"id", func(e *Event) any { return &e.ID }},
	{"node", func(e *Event) any { return &e.Node }},
	{"client", func(e *Event) any { return &e.Client }},
	{"key", func(e *Event) any { return &e.Key }},
	{"owner", func(e *Event) any { return &e.Owner }},
	{"epoch", func(e *Event) any { return &e.Epoch }},
	{"req", func(e *Event) any { return &e.Req }},
	{"ttl", func(e *Event) any { return &e.TTL }},
	{"wait", func(e *Event) any { return &e.Wait }},
	{"forgotten", func(e *Event) any { return &e.Forgotten }},
	{"holder", func(e *Event) any { return &e.Holder }},
	{"held", func(e *Event) any { return &e.Held }},
	{"expired", func(e *Event) any { return &e.Expired }},
	{"index", func(e *Event) any { return &e.Index }},
	{"term", func(e *Event) any { return &e.Term }},
	{"pos", func(e *Event) any { return &e.Pos }},
	{"number", func(e *Event) any { return &e.Number }},
	{"forget", func(e *Event) any { return &e.Forget }},
	{"seen_epoch", func(e *Event) any { return &e.SeenEpoch }},
	{"seen_index", func(e *Event) any { return &e.SeenIndex }},
	{"stored", func(e *Event) any { return &e.Stored }},
	{"sent", func(e *Event) any { return &e.Sent }},
	{"fence", func(e *Event) any { return &e.Fence }},
	{"reading", func(e *Event) any { return &e.Reading }},
	{"until", func(e *Event) any { return &e.Until }},
	{"n", func(e *Event) any { return &e.N }},
	{"value", func(e *Event) any { return &e.Value }},
	{"values", func(e *Event) any { return &e.Values }},
	{"twice", func(e *Event) any { return &e.Twice }},
	{"copy", func(e *Event) any { return &e.Copy }},
	{"sealed", func(e *Event) any { return &e.Sealed }},
	{"targets", func(e *Event) any { return &e.Targets }},
	{"rate", func(e *Event) any { return &e.Rate }},
	{"sum", func(e *Event) any { return &e.Sum }},
	{"err", func(e *Event) any { return &e.Err }},
	{"msg", func(e *Event) any { return &e.Msg }},
	{"terms", func(e *Event) any { return &e.Terms }},
}

// appendLine appends the event as encoding/json writes it.
func (e *Event) appendLine(b []byte) ([]byte, error) {
	b = append(b, '{')
	var err error
	for i := range fields {
		before := len(b)
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), fields[i].name...), '"', ':')
		value := len(b)
		if b, err = appendValue(b, fields[i].of(e)); err != nil {
			return nil, err
		}
		if len(b) == value && i == 0 {
			b = append(b, '0') // the instant is never left out
		} else if len(b) == value {
			b = b[:before]
		}
	}
	return append(b, '}'), nil
}

// appendValue appends what a pointer to a field points to, and nothing for a
// zero.
func appendValue(b []byte, field any) ([]byte, error) {
	switch v := field.(type) {
	case *time.Duration:
		if *v != 0 {
			b = strconv.AppendInt(b, int64(*v), 10)
		}
	case *uint64:
		if *v != 0 {
			b = strconv.AppendUint(b, *v, 10)
		}
	case *int:
		if *v != 0 {
			b = strconv.AppendInt(b, int64(*v), 10)
		}
	case *bool:
		if *v {
			b = append(b, "true"...)
		}
	case *string:
		return appendString(b, *v)
	case *Kind:
		if *v == "" {
			return append(b, `""`...), nil // never left out
		}
		return appendString(b, string(*v))
	case *Set:
		if len(*v) > 0 {
			text, _ := v.MarshalText() // never fails
			b = append(append(append(b, '"'), text...), '"')
		}
	case *float64:
		if *v != 0 {
			return appendJSON(b, *v)
		}
	case *[]string:
		if len(*v) > 0 {
			return appendJSON(b, *v)
		}
	case **Terms:
		if *v != nil {
			return appendJSON(b, *v)
		}
	}
	return b, nil
}

func appendString(b []byte, s string) ([]byte, error) {
	if s == "" {
		return b, nil
	}
	if !plain(s) {
		return appendJSON(b, s)
	}
	return append(append(append(b, '"'), s...), '"'), nil
}

func appendJSON(b []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}

// plain reports whether a string stands in a line as it is.
func plain[S string | []byte](s S) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}
