package storage

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
)

// What can be decoded is exactly what was encoded.
func FuzzDecodeValues(f *testing.F) {
	f.Add(encodeValues(nil))
	f.Add(encodeValues(map[string][]byte{"CurrentTerm": {kindNumber, 0, 0, 0, 0, 0, 0, 0, 3}, "": {}}))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		// The checksum would keep the fuzzer out.
		for _, b := range [][]byte{sealed, resealed(sealed)} {
			values, err := decodeValues(b)
			if err == nil && !bytes.Equal(encodeValues(values), b) {
				t.Errorf("%x decodes to %v", b, values)
			}
		}
	})
}

// resealed puts the right checksum at the end.
func resealed(b []byte) []byte {
	if len(b) < 4 {
		return b
	}
	return appendSum(bytes.Clone(b[:len(b)-4]))
}

func FuzzReadSeal(f *testing.F) {
	f.Add(sealSnapshot(&raft.SnapshotMeta{Version: 1, Index: 20, Term: 3, Configuration: testConfiguration, ConfigurationIndex: 1}))
	f.Add([]byte(snapshotMagic))
	f.Fuzz(func(t *testing.T, content []byte) {
		// The checksum would keep the fuzzer out.
		for _, b := range [][]byte{content, resealed(content)} {
			source := bytes.NewReader(b)
			meta, size, err := readSeal(source)
			if err != nil {
				continue
			}
			if read := len(b) - source.Len(); read != size {
				t.Errorf("a seal of %d bytes, but %d were read", size, read)
			}
			again, _, err := readSeal(bytes.NewReader(sealSnapshot(&meta)))
			if err != nil || !sameSnapshot(&meta, &again) {
				t.Errorf("%+v seals to %+v, %v", meta, again, err)
			}
		}
	})
}

func FuzzParseSnapshotName(f *testing.F) {
	f.Add("3-20-1700000000000")
	f.Add("3-20-1700000000000.tmp")
	f.Fuzz(func(t *testing.T, id string) {
		if name, ok := parseSnapshotName(id); ok && name.id != id {
			t.Errorf("%q parses to %+v", id, name)
		}
	})
}

// Whatever a file holds, looking at it does not panic.
func FuzzVerifyBoltBytes(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		remeta(file)
		if err := verifyBolt(bytes.NewReader(file), int64(len(file))); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}

// What passes the look at a file, bolt can open and read without a panic.
func FuzzVerifyBolt(f *testing.F) {
	dir := quickDir(f)
	original := filledFile(f, dir)
	f.Add(uint32(0), uint32(0), uint16(0), uint16(0))
	f.Add(uint32(2*4096+10), uint32(3*4096+16), uint16(0xFFFF), uint16(7))
	f.Fuzz(func(t *testing.T, at1, at2 uint32, change1, change2 uint16) {
		file := bytes.Clone(original)
		for at, change := range map[uint32]uint16{at1: change1, at2: change2} {
			at %= uint32(len(file) - 1)
			order.PutUint16(file[at:], order.Uint16(file[at:])^change)
		}
		remeta(file)
		if verifyBolt(bytes.NewReader(file), int64(len(file))) != nil {
			return
		}
		path := filepath.Join(dir, boltName)
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		bolt, err := openBolt(path)
		if err != nil {
			t.Fatalf("it passed, but: %v", err)
		}
		defer bolt.Close()
		if err := withFaults(path, func() error { return readAllOf(bolt) }); err != nil {
			t.Errorf("it passed, but: %v", err)
		}
	})
}

// filledFile returns a bolt file with some pages of entries.
func filledFile(f *testing.F, dir string) []byte {
	path := filepath.Join(dir, boltName)
	if err := makeBolt(path); err != nil {
		f.Fatal(err)
	}
	bolt, err := openBolt(path)
	if err != nil {
		f.Fatal(err)
	}
	for _, err := range []error{bolt.StoreLogs(commands(1, 200, 1)), bolt.DeleteRange(1, 50), bolt.Close()} {
		if err != nil {
			f.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	return file
}

// remeta puts the right checksums into the meta pages: they would keep the
// fuzzer out.
func remeta(file []byte) {
	for _, at := range []int{0, 4096} {
		if len(file) >= at+pageHead+metaSize {
			m := file[at+pageHead : at+pageHead+metaSize]
			order.PutUint64(m[56:], sumMeta(m))
		}
	}
}

func readAllOf(bolt *boltStore) error {
	if _, err := bolt.Get(keyValues); err != nil {
		return err
	}
	first, err := bolt.FirstIndex()
	if err != nil {
		return err
	}
	last, err := bolt.LastIndex()
	for index := first; err == nil && index != 0 && index <= last; index++ {
		bolt.GetLog(index, new(raft.Log)) // which need not be an entry
	}
	return err
}
