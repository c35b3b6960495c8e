package history

import (
	"bytes"
	"strconv"
	"time"
)

// A plainReader reads plain lines: those that [Event.appendLine] writes without
// the help of encoding/json. It keeps the names that come again and again.
type plainReader struct{ names map[string]string }

func newPlainReader() *plainReader { return &plainReader{make(map[string]string)} }

var fieldByName = func() map[string]int {
	at := make(map[string]int, len(fields))
	for i, f := range fields {
		at[f.name] = i
	}
	return at
}()

// read returns the event of a line, and false if encoding/json has to look at
// it: because it is not plain, or is wrong.
func (r *plainReader) read(line []byte) (e Event, ok bool) {
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
		return e, false
	}
	rest := line[1 : len(line)-1]
	last := -1
	for len(rest) > 0 {
		name, after, ok := cutName(rest)
		at, known := fieldByName[string(name)]
		if !ok || !known || at <= last {
			return e, false // in another order, or twice
		}
		last = at
		value, after, ok := cutValue(after)
		if !ok || !r.set(fields[at].of(&e), value) {
			return e, false
		}
		rest = after
	}
	return e, last >= 0
}

// cutName cuts `"name":` off.
func cutName(b []byte) (name, after []byte, ok bool) {
	if b[0] != '"' {
		return nil, nil, false
	}
	end := bytes.IndexByte(b[1:], '"') + 1
	if end < 1 || end+1 >= len(b) || b[end+1] != ':' {
		return nil, nil, false
	}
	return b[1:end], b[end+2:], true
}

// cutValue cuts a string with its quotes, a number or a word off, and the comma
// behind it.
func cutValue(b []byte) (value, after []byte, ok bool) {
	end := 0
	if len(b) > 0 && b[0] == '"' {
		if end = bytes.IndexByte(b[1:], '"') + 2; end < 2 {
			return nil, nil, false
		}
	} else if end = bytes.IndexByte(b, ','); end < 0 {
		end = len(b)
	}
	switch {
	case end == len(b):
		return b, nil, true
	case b[end] == ',' && end+1 < len(b):
		return b[:end], b[end+1:], true
	}
	return nil, nil, false
}

// set reads a value into a field, which a pointer points to.
func (r *plainReader) set(field any, value []byte) bool {
	var err error
	switch v := field.(type) {
	case *time.Duration:
		var n int64
		n, err = strconv.ParseInt(string(value), 10, 64)
		*v = time.Duration(n)
		return err == nil && canonical(value)
	case *uint64:
		*v, err = strconv.ParseUint(string(value), 10, 64)
		return err == nil && canonical(value)
	case *int:
		*v, err = strconv.Atoi(string(value))
		return err == nil && canonical(value)
	case *bool:
		*v = string(value) == "true"
		return *v
	case *string:
		text, ok := unquote(value)
		*v = r.name(text)
		return ok
	case *Kind:
		text, ok := unquote(value)
		*v = Kind(r.name(text))
		return ok
	case *Set:
		text, ok := unquote(value)
		return ok && v.UnmarshalText(text) == nil
	}
	return false
}

// canonical reports whether a number that strconv can read is one of JSON's.
func canonical(value []byte) bool {
	digits := bytes.TrimPrefix(value, []byte("-"))
	return digits[0] >= '0' && digits[0] <= '9' && (len(digits) == 1 || digits[0] != '0')
}

func unquote(value []byte) ([]byte, bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil, false
	}
	text := value[1 : len(value)-1]
	return text, plain(text)
}

// mostNames and longestName bound what is kept.
const (
	mostNames   = 4096
	longestName = 64
)

func (r *plainReader) name(text []byte) string {
	if name, ok := r.names[string(text)]; ok {
		return name
	}
	name := string(text)
	if len(r.names) < mostNames && len(name) <= longestName {
		r.names[name] = name
	}
	return name
}
