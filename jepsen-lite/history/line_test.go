package history

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Every field of an event is in the table, in its order, under its name.
func TestFieldsAreAllOfAnEvent(t *testing.T) {
	var want []string
	for i := range reflect.TypeFor[Event]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[Event]().Field(i).Tag.Get("json"), ",")
		if name != "-" {
			want = append(want, name)
		}
	}
	var e Event
	for i, f := range fields {
		if i >= len(want) || f.name != want[i] {
			t.Fatalf("field %d is %q, want those of Event: %q", i, f.name, want)
		}
		field := reflect.ValueOf(&e).Elem().Field(i).Addr().Interface()
		if f.of(&e) != field {
			t.Errorf("%q is another field", f.name)
		}
	}
	if len(fields) != len(want) {
		t.Errorf("%d fields, want %q", len(fields), want)
	}
}

var anyText = rapid.OneOf(
	rapid.Just(""), rapid.StringMatching(`[a-z0-9/_-]{1,12}`), rapid.String(),
	rapid.SampledFrom([]string{`"`, `\`, "<b>", "a&b", "ü", "\u2028", "\xff", "a\nb"}),
)

// anyEvent draws an event with some of its fields set.
func anyEvent(t *rapid.T) Event {
	var e Event
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Name == "Line" || rapid.IntRange(0, 3).Draw(t, "set") > 0 {
			continue
		}
		switch f := v.Field(i); f.Interface().(type) {
		case Set:
			f.Set(reflect.ValueOf(SetOf(rapid.SliceOfN(rapid.Uint64(), 0, 5).Draw(t, "values")...)))
		case []string:
			f.Set(reflect.ValueOf(rapid.SliceOfN(anyText, 0, 3).Draw(t, "targets")))
		case *Terms:
			f.Set(reflect.ValueOf(&Terms{Seed: rapid.Uint64().Draw(t, "seed"), Arena: anyText.Draw(t, "arena")}))
		default:
			switch f.Kind() {
			case reflect.String:
				f.SetString(anyText.Draw(t, "text"))
			case reflect.Uint64:
				f.SetUint(rapid.Uint64().Draw(t, "number"))
			case reflect.Int, reflect.Int64:
				f.SetInt(rapid.Int64().Draw(t, "number"))
			case reflect.Float64:
				f.SetFloat(rapid.Float64Range(0, 10).Draw(t, "rate"))
			case reflect.Bool:
				f.SetBool(true)
			}
		}
	}
	return e
}

// A line is what encoding/json makes of the event, byte by byte; and where the
// plain reader reads a line, it reads what encoding/json reads.
func TestLinesAreThoseOfJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent(t)
		want, err := json.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.appendLine(nil)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("wrote %s, %v\nwant  %s", got, err, want)
		}
		agree(t, got)
	})
}

// agree checks that a line that the plain reader reads is the same to
// encoding/json.
func agree(t interface{ Fatalf(string, ...any) }, line []byte) (plain bool) {
	got, ok := newPlainReader().read(line)
	if !ok {
		return false
	}
	var want Event
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&want); err != nil || d.More() || !reflect.DeepEqual(got, want) {
		t.Fatalf("%s is read as\n%+v, but encoding/json reads\n%+v, %v", line, got, want, err)
	}
	return true
}

func TestPlainLinesAreReadPlainly(t *testing.T) {
	for line, plainly := range map[string]bool{
		`{"t":1,"kind":"gate","client":"r1","key":"k1","owner":"r1/x","epoch":3,"reading":-5,"n":1}`: true,
		`{"t":0,"kind":"ok","held":true,"values":"1-4,9"}`:                                           true,
		`{"t":1,"kind":"gate","msg":"a\nb"}`:                                                         false,
		`{"kind":"gate","t":1}`:                                                                      false,
		`{"t":1,"t":2}`:                                                                              false,
		`{"t":01}`:                                                                                   false,
		`{"t":+1}`:                                                                                   false,
		`{"t":1,}`:                                                                                   false,
		`{"t":1 }`:                                                                                   false,
		`{"t":1,"held":false}`:                                                                       false,
		`{"t":1,"party":2}`:                                                                          false,
		`{"t":1}{"t":1}`:                                                                             false,
		`{}`:                                                                                         false,
		``:                                                                                           false,
		`{"t":`:                                                                                      false,
	} {
		if got := agree(t, []byte(line)); got != plainly {
			t.Errorf("%s: read plainly: %v, want %v", line, got, plainly)
		}
	}
}

func FuzzPlainLine(f *testing.F) {
	f.Add([]byte(`{"t":1,"kind":"gate","client":"r1","key":"k1","epoch":3,"values":"1-4,9","held":true,"n":-1}`))
	f.Add([]byte(`{"t":1,"kind":"gate","rate":0.5,"targets":["n1"]}`))
	f.Fuzz(func(t *testing.T, line []byte) { agree(t, line) })
}
