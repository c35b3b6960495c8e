package storage

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// The encoding of the stable values is what other versions of the program will
// read: it does not change by accident.
func TestValuesGolden(t *testing.T) {
	values := map[string][]byte{
		"LastVoteCand": []byte("bn2"),
		"CurrentTerm":  {kindNumber, 0, 0, 0, 0, 0, 0, 0, 3},
	}
	const golden = "01020b43757272656e745465726d096e00000000000000030c4c617374566f746543616e6403626e32d83b1203"
	if got := hex.EncodeToString(encodeValues(values)); got != golden {
		t.Errorf("encoded: %s\nwant:    %s", got, golden)
	}
}

func TestDecodeValuesRefuses(t *testing.T) {
	cases := map[string]struct{ encoded, says string }{
		"nothing":              {"", "unknown version"},
		"another version":      {"\x02\x00", "unknown version"},
		"no count":             {"\x01", "end too soon"},
		"a count too high":     {"\x01\x01", "end too soon"},
		"a key too long":       {"\x01\x01\x05a", "end too soon"},
		"no value":             {"\x01\x01\x01a", "end too soon"},
		"a length too long":    {"\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a", "end too soon"},
		"something behind":     {"\x01\x00x", "not encoded as they should be"},
		"keys out of order":    {"\x01\x02\x01b\x01x\x01a\x01x", "not encoded as they should be"},
		"a key twice":          {"\x01\x02\x01a\x01x\x01a\x01x", "not encoded as they should be"},
		"a count in two bytes": {"\x01\x81\x00\x01a\x01x", "not encoded as they should be"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if values, err := decodeValues(appendSum([]byte(c.encoded))); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("decoded %v, %v, want %s", values, err, c.says)
			}
		})
	}
}

// So it is with the seals of entries and snapshots.
func TestSealsGolden(t *testing.T) {
	log := command(7, 3)
	sealEntry(log)
	if got, want := hex.EncodeToString(log.Extensions), "0126d8489a"; got != want {
		t.Errorf("the seal of an entry: %s, want %s", got, want)
	}
	seal := sealSnapshot(&raft.SnapshotMeta{Version: 1, Index: 20, Term: 3, ConfigurationIndex: 2, Configuration: testConfiguration})
	if got, want := hex.EncodeToString(seal), "74736e310000004b000000000000000100000000000000140000000000000003000000000000000281a7536572766572739183a741646472657373a76e313a37343030a24944a26e31a853756666726167650018601dc8"; got != want {
		t.Errorf("the seal of a snapshot: %s, want %s", got, want)
	}
}
