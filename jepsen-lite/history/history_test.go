package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/tenure/jepsen-lite/history"
)

const head = `{"t":0,"kind":"run","terms":{"seed":1,"arena":"virtual","timed":true}}` + "\n"

// A history that was written is read back, operation for operation.
func TestWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	w, err := history.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(e history.Event) {
		if err := w.Write(e); err != nil {
			t.Error(err)
		}
	}
	write(history.Event{Kind: history.Run, Terms: &history.Terms{Seed: 3, Arena: "virtual", Timed: true}})
	var wg sync.WaitGroup
	for i := range uint64(50) {
		wg.Go(func() {
			at := time.Duration(i) * time.Second
			write(history.Event{T: at, Kind: history.Invoke, F: history.Recover, ID: i + 1, Key: "k", Owner: "a", Epoch: i + 1})
			write(history.Event{T: at + 1, Kind: history.OK, ID: i + 1, Copy: i, Values: history.SetOf(1, 2, 3, i+7)})
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := history.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Ops) != 50 || h.Terms.Seed != 3 || h.Torn || len(h.Events) != w.Lines() {
		t.Fatalf("got %d operations of seed %d in %d lines, torn %v", len(h.Ops), h.Terms.Seed, len(h.Events), h.Torn)
	}
	for i, op := range h.Ops {
		if op.Call != time.Duration(i)*time.Second || op.Return != op.Call+1 || !op.Complete.Values.Has(uint64(i)+7) {
			t.Errorf("operation %d: %+v", i, op)
		}
	}
	if _, err := history.Create(path); err == nil {
		t.Error("a history was written over")
	}
}

// A crash of the harness tears at most the last line, wherever it strikes.
func TestTornLastLine(t *testing.T) {
	whole := head + `{"t":5,"kind":"invoke","f":"get","id":1,"key":"k"}` + "\n" + `{"t":6,"kind":"ok","id":1,"epoch":4,"held":true}` + "\n"
	for cut := len(head); cut <= len(whole); cut++ {
		h, err := history.Parse(strings.NewReader(whole[:cut]))
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		clean := whole[cut-1] == '\n' || whole[cut-1] == '}'
		if h.Torn == clean {
			t.Errorf("cut after %q: torn is %v", whole[:cut], h.Torn)
		}
		if want := strings.Count(whole[:cut], "}\n"); len(h.Events) < want {
			t.Errorf("cut at %d: %d events, want at least %d", cut, len(h.Events), want)
		}
	}
}

func TestFlawsNameTheirLine(t *testing.T) {
	inv := `{"t":5,"kind":"invoke","f":"get","id":1,"key":"k"}` + "\n"
	for _, c := range []struct {
		name, text string
		line       int
		says       string
	}{
		{"empty", "", 1, "starts with"},
		{"no run first", inv, 1, "starts with"},
		{"second run", head + head, 2, "second run"},
		{"torn in the middle", head + `{"t":5,"ki` + "\n" + inv, 2, "unexpected"},
		{"unknown field", head + `{"t":5,"kind":"note","colour":"red"}` + "\n", 2, "colour"},
		{"unknown kind", head + `{"t":5,"kind":"party"}` + "\n", 2, `"party"`},
		{"two objects", head + `{"t":5,"kind":"note"}{"t":5,"kind":"note"}` + "\n", 2, "more than one"},
		{"negative time", head + `{"t":-5,"kind":"note"}` + "\n", 2, "negative"},
		{"blank line", head + "\n" + inv, 2, "EOF"},
		{"no key", head + `{"t":5,"kind":"invoke","f":"get","id":1}` + "\n", 2, "key is missing"},
		{"no owner", head + `{"t":5,"kind":"invoke","f":"renew","id":1,"key":"k","epoch":1,"ttl":9}` + "\n", 2, "owner is missing"},
		{"unknown function", head + `{"t":5,"kind":"invoke","f":"steal","id":1,"key":"k"}` + "\n", 2, `"steal"`},
		{"third gate", head + `{"t":5,"kind":"gate","n":3,"key":"k","owner":"a","epoch":1}` + "\n", 2, "from 0 to 2"},
		{"twice invoked", head + inv + inv, 3, "invoked before"},
		{"never invoked", head + `{"t":5,"kind":"ok","id":1}` + "\n", 2, "not invoked"},
		{"twice completed", head + inv + `{"t":6,"kind":"info","id":1}` + "\n" + `{"t":7,"kind":"ok","id":1}` + "\n", 4, "completed before"},
		{"completed before it began", head + inv + `{"t":4,"kind":"ok","id":1}` + "\n", 3, "not invoked"},
		{"completed as another", head + inv + `{"t":6,"kind":"ok","id":1,"f":"owner"}` + "\n", 3, "as get"},
		{"grant without epoch", head + `{"t":5,"kind":"invoke","f":"acquire","id":1,"key":"k","owner":"a","req":"x","ttl":9}` + "\n" +
			`{"t":6,"kind":"ok","id":1}` + "\n", 3, "epoch is missing"},
		{"healed but never taken", head + `{"t":6,"kind":"heal","id":1}` + "\n", 2, "does not stand"},
		{"bad terms", `{"t":0,"kind":"run","terms":{"seed":1,"arena":"virtual","timed":true,"tells":["all"]}}` + "\n", 1, `"all"`},
		{"falling set", head + `{"t":6,"kind":"note","values":"3,1"}` + "\n", 2, "does not follow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := history.Parse(strings.NewReader(c.text))
			var at *history.LineError
			if !errors.As(err, &at) || at.Line != c.line || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want line %d to say %q", err, c.line, c.says)
			}
		})
	}
}

func TestWriterRefusesWhatNoReaderTakes(t *testing.T) {
	w, err := history.Create(filepath.Join(t.TempDir(), "h"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(history.Event{Kind: history.Invoke, F: history.Acquire, ID: 1}); err == nil {
		t.Error("an invocation without a key was written")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(history.Event{Kind: history.Note}); err == nil {
		t.Error("wrote to a closed file")
	}
	if err := w.Close(); err == nil {
		t.Error("Close lost the error of a failed write")
	}
}

func TestSet(t *testing.T) {
	s := history.SetOf(5, 1, 2, 3, 2, 9)
	text, _ := s.MarshalText()
	if string(text) != "1-3,5,9" {
		t.Errorf("got %s", text)
	}
	if s.Has(4) || !s.Has(2) || !s.Has(9) || s.Has(0) || s.Has(10) {
		t.Errorf("%s has the wrong values", text)
	}
	if got := s.Without(history.SetOf(2, 9), 10); len(got) != 3 || got[1] != 3 {
		t.Errorf("without 2 and 9: %v", got)
	}
	if got := s.Without(nil, 2); len(got) != 2 {
		t.Errorf("limit 2: %v", got)
	}
}

// Whatever is in a file, Parse answers with a history or an error, and a
// history that it took can be written and read again to the same events.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head))
	f.Add([]byte(head + `{"t":5,"kind":"invoke","f":"write","id":1,"key":"k","owner":"a","epoch":2,"value":3}` + "\n" + `{"t":6,"kind":"info","id":1}`))
	f.Add([]byte(head + `{"t":5,"kind":"fault","f":"kill","id":1,"targets":["n1"]}` + "\n" + `{"t":9,"kind":"heal","id":1,"values":"1-4,6"}` + "\n" + `{"t":9`))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := history.Parse(bytes.NewReader(text))
		if err != nil {
			var at *history.LineError
			if !errors.As(err, &at) || at.Line < 1 {
				t.Fatalf("an error without a line: %v", err)
			}
			return
		}
		var again bytes.Buffer
		enc := json.NewEncoder(&again)
		for _, e := range h.Events {
			if err := enc.Encode(e); err != nil {
				t.Fatal(err)
			}
		}
		h2, err := history.Parse(&again)
		if err != nil {
			t.Fatalf("what was read can't be read again: %v", err)
		}
		if len(h2.Events) != len(h.Events) || len(h2.Ops) != len(h.Ops) || len(h2.Faults) != len(h.Faults) {
			t.Fatal("what was read is not the same when read again")
		}
	})
}

// A set with one more value is the set of all values, and the old one is what
// it was.
func TestSetWith(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Uint64Range(1, 20)).Draw(t, "values")
		var s history.Set
		for i, v := range values {
			before := history.SetOf(values[:i]...)
			with := s.With(v)
			if !slices.Equal(s, before) || !slices.Equal(with, history.SetOf(values[:i+1]...)) {
				t.Fatalf("%v with %d is %v, and %v itself", before, v, with, s)
			}
			s = with
		}
	})
}

func FuzzSet(f *testing.F) {
	f.Add("1-3,5")
	f.Add("18446744073709551615")
	f.Fuzz(func(t *testing.T, text string) {
		var s history.Set
		if s.UnmarshalText([]byte(text)) != nil {
			return
		}
		if back, _ := s.MarshalText(); string(back) != text {
			t.Errorf("%q became %q", text, back)
		}
	})
}

// Without agrees with asking for each value.
func FuzzSetWithout(f *testing.F) {
	f.Add("1-18446744073709551615", "1-7,9-18446744073709551615")
	f.Add("1-5,8", "2-3,8")
	f.Fuzz(func(t *testing.T, a, b string) {
		var s, other history.Set
		if s.UnmarshalText([]byte(a)) != nil || other.UnmarshalText([]byte(b)) != nil {
			return
		}
		for _, v := range s.Without(other, 100) {
			if !s.Has(v) || other.Has(v) {
				t.Errorf("%q without %q has %d", a, b, v)
			}
		}
	})
}
