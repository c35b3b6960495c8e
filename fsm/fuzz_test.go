package fsm

import (
	"bytes"
	"testing"
)

// FuzzEntry: whatever an entry holds, decoding ends with an error or with
// commands that encode to the same bytes, and applying it to a state with
// something of everything leaves that as it must be. The fuzzer makes the body;
// the checksum is added, as it would never guess one.
func FuzzEntry(f *testing.F) {
	entry, err := AppendEntry(nil, everyForm)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(entry[:len(entry)-4])
	for i := range everyForm {
		entry, err := AppendEntry(nil, everyForm[i:i+1])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(entry[:len(entry)-4])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		entry := sealed(bytes.Clone(body)...)
		commands, err := DecodeEntry(entry)
		s := newBusyState(t)
		before := s.Checksum()
		results, applied := s.Apply(s.Index()+1, entry, nil)
		if err != nil {
			if applied == nil || s.Checksum() != before {
				t.Fatalf("not decoded (%v), but applied: %v", err, applied)
			}
			return
		}
		if again, err := AppendEntry(nil, commands); err != nil || !bytes.Equal(again, entry) {
			t.Fatalf("%x\nis encoded anew, %v, as\n%x", entry, err, again)
		}
		if applied != nil || len(results) != len(commands) {
			t.Fatalf("%d commands with %d results: %v", len(commands), len(results), applied)
		}
		audit(t, s)
	})
}

// FuzzRestore: whatever a snapshot holds, restoring it ends with an error or
// with a state that is sound and writes the same snapshot. The fuzzer's bytes
// are also tried with both checksums made right.
func FuzzRestore(f *testing.F) {
	f.Add(snapshotBytes(f, New()))
	f.Add(snapshotBytes(f, newBusyState(f)))
	f.Add(goldenBytes(f, "snapshot-v1"))
	f.Fuzz(func(t *testing.T, snapshot []byte) {
		for _, snapshot := range [][]byte{snapshot, resealed(snapshot)} {
			s, err := Restore(bytes.NewReader(snapshot))
			if err != nil {
				continue
			}
			audit(t, s)
			if again := snapshotBytes(t, s); !bytes.Equal(again, snapshot) {
				t.Fatalf("%x\nis written anew as\n%x", snapshot, again)
			}
		}
	})
}

// FuzzDecodeRaw leaves the checksum to the fuzzer, for what comes before it is
// looked at.
func FuzzDecodeRaw(f *testing.F) {
	f.Add(goldenBytes(f, "entry-v1"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, entry []byte) {
		commands, err := DecodeEntry(entry)
		if checked := CheckEntry(entry); err == nil && checked != nil {
			t.Fatalf("%d commands were decoded, and the check says %v", len(commands), checked)
		}
	})
}
