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
	return decodeValue("", trimmed(body), reflect.ValueOf(into).Elem())
}

var epochType = reflect.TypeFor[Epoch]()

// decodeValue reads one value of valid JSON. path names it, "" for the body.
func decodeValue(path string, raw []byte, into reflect.Value) error {
	if into.Type() == epochType {
		return decodeEpoch(path, raw, into)
	}
	switch into.Kind() {
	case reflect.Struct:
		return decodeStruct(path, raw, into)
	case reflect.Slice:
		return decodeSlice(path, raw, into)
	case reflect.String:
		return decodeText(path, raw, into)
	case reflect.Int64:
		return decodeInteger(path, raw, into)
	case reflect.Bool:
		if text := string(raw); text != "true" && text != "false" {
			return malformed(path, raw, "true or false")
		}
		into.SetBool(raw[0] == 't')
		return nil
	}
	panic("httpapi: a request type with a field of type " + into.Type().String())
}

func decodeStruct(path string, raw []byte, into reflect.Value) error {
	if raw[0] != '{' {
		return malformed(path, raw, "a JSON object")
	}
	given := map[string]bool{}
	return split(raw, func(member []byte) error {
		quoted, value := cutMember(member)
		var name string
		field := reflect.Value{}
		if json.Unmarshal(quoted, &name) == nil {
			field = fieldNamed(into, name)
		}
		if !field.IsValid() {
			return &tenure.InvalidError{Field: "field", Value: strconv.Quote(within(path, name)), Bound: "one of " + strings.Join(fieldNames(into.Type()), ", ")}
		}
		if given[name] {
			return malformed(within(path, name), value, "given once")
		}
		given[name] = true
		return decodeValue(within(path, name), value, field)
	})
}

func decodeSlice(path string, raw []byte, into reflect.Value) error {
	if raw[0] != '[' {
		return malformed(path, raw, "a JSON array")
	}
	items := reflect.MakeSlice(into.Type(), 0, 0)
	err := split(raw, func(element []byte) error {
		item := reflect.New(into.Type().Elem()).Elem()
		err := decodeValue(fmt.Sprintf("%s[%d]", path, items.Len()), element, item)
		items = reflect.Append(items, item)
		return err
	})
	into.Set(items)
	return err
}

func decodeText(path string, raw []byte, into reflect.Value) error {
	var text string
	if raw[0] != '"' || !isUnicode(raw) || json.Unmarshal(raw, &text) != nil {
		return malformed(path, raw, "a string of valid Unicode")
	}
	into.SetString(text)
	return nil
}

func decodeInteger(path string, raw []byte, into reflect.Value) error {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return malformed(path, raw, "a whole number, without fraction or exponent, that fits 64 bits")
	}
	into.SetInt(n)
	return nil
}

func decodeEpoch(path string, raw []byte, into reflect.Value) error {
	var e Epoch
	if e.UnmarshalJSON(raw) != nil {
		return malformed(path, raw, fmt.Sprintf("a whole number from 1 to 2^53, or a string of digits up to %q", strconv.Itoa(tenure.MaxEpoch)))
	}
	into.SetUint(uint64(e))
	return nil
}

func malformed(path string, raw []byte, bound string) error {
	if path == "" {
		path = "body"
	}
	return &tenure.InvalidError{Field: path, Value: shown(raw), Bound: bound}
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

// within returns the path of a field of the object at path.
func within(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fieldNamed returns the struct's field that JSON calls by that name, or the
// zero value.
func fieldNamed(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if nameOf(v.Type().Field(i)) == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
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
