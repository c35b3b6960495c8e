package httpapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// What follows takes JSON apart that is known to be valid.

// space is what JSON allows between tokens.
const space = " \t\r\n"

func trimmed(raw []byte) []byte { return bytes.Trim(raw, space) }

// split calls f with each element of an array, or each member of an object,
// until f fails.
func split(raw []byte, f func(part []byte) *fault) *fault {
	inner := trimmed(raw[1 : len(raw)-1])
	if len(inner) == 0 {
		return nil
	}
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ',' && depth == 0:
			if fault := f(trimmed(inner[start:i])); fault != nil {
				return fault
			}
			start = i + 1
		}
	}
	return f(trimmed(inner[start:]))
}

// cutMember returns the name, with its quotes, and the value of an object's
// member.
func cutMember(member []byte) (name, value []byte) {
	end := 1
	for ; member[end] != '"'; end++ {
		if member[end] == '\\' {
			end++
		}
	}
	end++
	value = trimmed(member[end:])
	return member[:end], trimmed(value[1:]) // without the colon
}

// unquote returns what a string of JSON stands for; false if the value is no
// string, or not one of Unicode.
func unquote(raw []byte) (string, bool) {
	if raw[0] != '"' || !isUnicode(raw) {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}

// isUnicode reports whether a string of JSON stands for valid Unicode: bytes in
// UTF-8, and no escape of half a surrogate pair.
func isUnicode(raw []byte) bool {
	if !utf8.Valid(raw) {
		return false
	}
	for {
		at := bytes.IndexByte(raw, '\\')
		if at < 0 {
			return true
		}
		raw = raw[at:]
		unit, escaped := cutUnit(raw)
		if !escaped {
			raw = raw[2:]
			continue
		}
		raw = raw[6:]
		if !utf16.IsSurrogate(unit) {
			continue
		}
		low, escaped := cutUnit(raw)
		if !escaped || utf16.DecodeRune(unit, low) == utf8.RuneError {
			return false
		}
		raw = raw[6:]
	}
}

// cutUnit returns the UTF-16 unit whose escape, like \u00e9, raw starts with.
func cutUnit(raw []byte) (unit rune, ok bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}
