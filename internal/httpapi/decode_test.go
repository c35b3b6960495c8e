package httpapi

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/tenure"
)

// requests makes one of each request type.
var requests = []func() any{
	func() any { return new(AcquireRequest) },
	func() any { return new(RenewRequest) },
	func() any { return new(ReleaseRequest) },
	func() any { return new(ForgetRequest) },
	func() any { return new(JoinRequest) },
	func() any { return new(TransferRequest) },
}

// What a client sends is what the server reads.
func TestRequestsSurviveTheWire(t *testing.T) {
	keys := rapid.SliceOf(rapid.Custom(func(t *rapid.T) AcquireKey {
		return AcquireKey{Key: rapid.String().Draw(t, "key"), RequestID: rapid.String().Draw(t, "id")}
	}))
	endings := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Ending {
		return Ending{Key: rapid.String().Draw(t, "key"), Epoch: Epoch(rapid.Uint64().Draw(t, "epoch")), RequestID: rapid.String().Draw(t, "id")}
	}))
	rapid.Check(t, func(t *rapid.T) {
		for _, sent := range []any{
			&AcquireRequest{Key: rapid.String().Draw(t, "key"), Owner: rapid.String().Draw(t, "owner"), TTLMillis: rapid.Int64().Draw(t, "ttl"),
				WaitMillis: rapid.Int64().Draw(t, "wait"), Keys: keys.Draw(t, "keys")},
			&ReleaseRequest{Owner: rapid.String().Draw(t, "owner"), Tenures: endings.Draw(t, "endings"), Forget: rapid.Bool().Draw(t, "forget")},
		} {
			raw, err := json.MarshalIndent(sent, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			got := reflect.New(reflect.TypeOf(sent).Elem())
			if err := decodeBody(raw, got.Interface()); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			again, err := json.MarshalIndent(got.Interface(), "", "\t")
			if err != nil || string(again) != string(raw) {
				t.Fatalf("%s\nbecame %s", raw, again)
			}
		}
	})
}

func TestUnicode(t *testing.T) {
	for raw, want := range map[string]string{
		`"a\u00fcb"`:                    "aüb",
		`"\\ud800"`:                     `\ud800`,
		`"\ud83d\ude00\uD83D\uDE00"`:    "😀😀",
		`"\ufffd` + "\ufffd" + `"`:      "\ufffd\ufffd",
		`"\"\\\/\b\f\n\r\t\u0000"`:      "\"\\/\b\f\n\r\t\x00",
		`"\ud83d\\ude00"`:               "",
		`"\ud83d\ud83d"`:                "",
		`"\ude00\ud83d"`:                "",
		`"\ud83dx"`:                     "",
		`"\ud83d"`:                      "",
		"\"\xc3\"":                      "",
		"\"\xed\xa0\x80\"":              "", // a surrogate in UTF-8
		`"\uD83D` + "\xf0\x9f\x98\"":    "",
		`"the end is an escape \\ud83"`: `the end is an escape \ud83`,
	} {
		var got TransferRequest
		err := decodeBody([]byte(`{"id":`+raw+`}`), &got)
		if want != got.ID || (err == nil) != (want != "") {
			t.Errorf("%s is read as %q, %v; want %q", raw, got.ID, err, want)
		}
	}
}

// FuzzDecodeBody compares the strict decoder with package json: it never takes
// what that refuses, and reads the same from what both take; what it refuses,
// it names.
func FuzzDecodeBody(f *testing.F) {
	for _, body := range []string{
		`{"key":"t1","owner":"r1/ab12","request_id":"a","ttl_ms":10000,"wait_ms":0}`,
		`{"owner":"r1","ttl_ms":10000,"keys":[{"key":"t1","request_id":"b"},{}]}`,
		`{"owner":"r1","ttl_ms":10000,"tenures":[{"key":"t1","epoch":7},{"epoch":"9007199254740993"}]}`,
		` { "owner" : "r1" , "tenures" : [ ] , "forget" : true } `,
		`{"key":"\ud83d\ude00\\","owner":"\"","epoch":"1"}`,
		`{"id":"n1","addr":"127.0.0.1:1","nonvoter":false}`,
		`{"id":"\ud800"}`, `{"id":null}`, `{"ID":"x"}`, `{"id":"a","id":"b"}`, `{"\u0069d":"a"}`, `{"a}":["]",{}]}`, `[]`, `{}`, `{`, `{"id":"x"}}`, "\xff", `""`, `{"":0}`,
	} {
		for kind := range requests {
			f.Add(byte(kind), []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		n := int(kind) % len(requests)
		strict, lax := requests[n](), requests[n]()
		if err := decodeBody(body, strict); err != nil {
			var invalid *tenure.InvalidError
			if !errors.As(err, &invalid) || invalid.Field == "" || invalid.Value == "" || invalid.Bound == "" || len(err.Error()) > 1000 {
				t.Fatalf("%#v", err)
			}
			return
		}
		decoder := json.NewDecoder(strings.NewReader(string(body)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(lax); err != nil {
			t.Fatalf("%s is taken, but %v", body, err)
		}
		if !reflect.DeepEqual(strict, lax) {
			t.Fatalf("%s is read as %+v, not %+v", body, strict, lax)
		}
	})
}

// BenchmarkDecodeBody reads a renewal of 10,000 tenures.
func BenchmarkDecodeBody(b *testing.B) {
	req := RenewRequest{Owner: "r1/ab12", TTLMillis: 10000}
	for i := range 10000 {
		req.Tenures = append(req.Tenures, Tenure{Key: "tenants/" + strings.Repeat("x", 8), Epoch: Epoch(i + 1)})
	}
	body, err := json.Marshal(req)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := decodeBody(body, new(RenewRequest)); err != nil {
			b.Fatal(err)
		}
	}
}
