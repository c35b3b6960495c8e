package httpapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/tenure"
)

// decodeBody reads the body of a request into one of the request types. It is
// stricter than package json, which takes field names in any case, keeps the
// last of two values, passes null over, and puts U+FFFD in the place of what is
// not Unicode: each time the request would be about something else than its
// sender means. The error is an [*tenure.InvalidError] that names the field.
func decodeBody(body []byte, into any) error {
	var whole json.RawMessage
	if err := json.Unmarshal(body, &whole); err != nil {
		return &tenure.InvalidError{Field: "body", Value: fmt.Sprintf("%s (%v)", shown(body), err), Bound: "one JSON object and nothing after it"}
	}
	if f := decodeValue(trimmed(body), reflect.ValueOf(into).Elem()); f != nil {
		return f.err()
	}
	return nil
}

var epochType = reflect.TypeFor[Epoch]()

// decodeValue reads one value of valid JSON.
func decodeValue(raw []byte, into reflect.Value) *fault {
	if into.Type() == epochType {
		return decodeEpoch(raw, into)
	}
	switch into.Kind() {
	case reflect.Struct:
		return decodeStruct(raw, into)
	case reflect.Slice:
		return decodeSlice(raw, into)
	case reflect.String:
		text, ok := unquote(raw)
		if !ok {
			return malformed(raw, "a string of valid Unicode")
		}
		into.SetString(text)
	case reflect.Int64:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return malformed(raw, "a whole number, without fraction or exponent, that fits 64 bits")
		}
		into.SetInt(n)
	case reflect.Bool:
		if text := string(raw); text != "true" && text != "false" {
			return malformed(raw, "true or false")
		}
		into.SetBool(raw[0] == 't')
	default:
		panic("httpapi: a request type with a field of type " + into.Type().String())
	}
	return nil
}

func decodeStruct(raw []byte, into reflect.Value) *fault {
	if raw[0] != '{' {
		return malformed(raw, "a JSON object")
	}
	given := make([]bool, into.NumField())
	return split(raw, func(member []byte) *fault {
		quoted, value := cutMember(member)
		name, ok := unquote(quoted)
		at := fieldNamed(into.Type(), name)
		if !ok || at < 0 {
			if !ok || name == "" || len(name) > 64 {
				name = shown(quoted)
			}
			return &fault{path: name, unknown: true, bound: "one of " + strings.Join(fieldNames(into.Type()), ", ")}
		}
		if given[at] {
			return malformed(value, "given once").under(name)
		}
		given[at] = true
		return decodeValue(value, into.Field(at)).under(name)
	})
}

func decodeSlice(raw []byte, into reflect.Value) *fault {
	if raw[0] != '[' {
		return malformed(raw, "a JSON array")
	}
	into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	return split(raw, func(element []byte) *fault {
		at := into.Len()
		into.Set(reflect.Append(into, reflect.Zero(into.Type().Elem())))
		f := decodeValue(element, into.Index(at))
		if f == nil {
			return nil
		}
		return f.under(fmt.Sprintf("[%d]", at))
	})
}

func decodeEpoch(raw []byte, into reflect.Value) *fault {
	var e Epoch
	if e.UnmarshalJSON(raw) != nil {
		return malformed(raw, fmt.Sprintf("a whole number from 1 to 2^53, or a string of digits up to %q", strconv.Itoa(tenure.MaxEpoch)))
	}
	into.SetUint(uint64(e))
	return nil
}

// A fault is what is wrong with a value, and where, as far as the caller is in
// the object: the path grows on the way out.
type fault struct {
	path         string // "" is the body itself
	unknown      bool   // there is no such field
	value, bound string
}

func malformed(raw []byte, bound string) *fault {
	return &fault{value: shown(raw), bound: bound}
}

// under adds a step to the front of the path.
func (f *fault) under(step string) *fault {
	if f != nil && f.path != "" && f.path[0] != '[' {
		step += "."
	}
	if f != nil {
		f.path = step + f.path
	}
	return f
}

func (f *fault) err() error {
	switch {
	case f.unknown:
		return invalid("field", strconv.Quote(f.path), f.bound)
	case f.path == "":
		return invalid("body", f.value, f.bound)
	}
	return invalid(f.path, f.value, f.bound)
}

// shown returns a piece of a request as a message has it: short and printable.
func shown(raw []byte) string {
	switch {
	case len(raw) == 0:
		return `""`
	case len(raw) > 64:
		return fmt.Sprintf("%d bytes, %.32q...", len(raw), raw[:32])
	case !utf8.Valid(raw) || strings.ContainsFunc(string(raw), func(r rune) bool { return !strconv.IsPrint(r) }):
		return strconv.Quote(string(raw))
	}
	return string(raw)
}

// fieldNamed returns the place of the struct's field that JSON calls by that
// name, or -1.
func fieldNamed(t reflect.Type, name string) int {
	for i := range t.NumField() {
		if nameOf(t.Field(i)) == name {
			return i
		}
	}
	return -1
}

func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = nameOf(t.Field(i))
	}
	return names
}

func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
