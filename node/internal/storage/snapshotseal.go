package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/hashicorp/raft"
)

// A snapshot's content begins with a seal: what the snapshot is, under a
// checksum. The file store keeps a checksum of the content only, and a flipped
// bit in the index or the configuration beside it would pass.
//
//	magic | length of the rest but the checksum | version | index | term |
//	configuration index | configuration | CRC-32C of all before
const (
	snapshotMagic   = "tsn1"
	sealHead        = len(snapshotMagic) + 4 // magic and length
	sealedFields    = 4 * 8                  // version, index, term, configuration index
	sumSize         = 4
	minSnapshotSeal = sealHead + sealedFields + sumSize
	maxSnapshotSeal = minSnapshotSeal + 1<<20 // a configuration is far smaller
)

// sealSnapshot encodes the seal of a snapshot.
func sealSnapshot(meta *raft.SnapshotMeta) []byte {
	configuration := raft.EncodeConfiguration(meta.Configuration)
	seal := []byte(snapshotMagic)
	seal = binary.BigEndian.AppendUint32(seal, uint32(sealedFields+len(configuration)))
	seal = binary.BigEndian.AppendUint64(seal, uint64(meta.Version))
	seal = binary.BigEndian.AppendUint64(seal, meta.Index)
	seal = binary.BigEndian.AppendUint64(seal, meta.Term)
	seal = binary.BigEndian.AppendUint64(seal, meta.ConfigurationIndex)
	seal = append(seal, configuration...)
	return appendSum(seal)
}

// readSeal reads the seal that a snapshot's content begins with. It returns what
// it says, and its length.
func readSeal(content io.Reader) (meta raft.SnapshotMeta, size int, err error) {
	seal := make([]byte, sealHead)
	if _, err := io.ReadFull(content, seal); err != nil {
		return meta, 0, fmt.Errorf("its seal can't be read: %w", err)
	}
	size = int(binary.BigEndian.Uint32(seal[len(snapshotMagic):])) + sealHead + sumSize
	if string(seal[:len(snapshotMagic)]) != snapshotMagic || size < minSnapshotSeal || size > maxSnapshotSeal {
		return meta, 0, errors.New("it does not begin with a seal")
	}
	seal = append(seal, make([]byte, size-sealHead)...)
	if _, err := io.ReadFull(content, seal[sealHead:]); err != nil {
		return meta, 0, fmt.Errorf("its seal can't be read: %w", err)
	}
	meta, err = parseSeal(seal)
	return meta, size, err
}

func parseSeal(seal []byte) (meta raft.SnapshotMeta, err error) {
	sealed, sum := seal[:len(seal)-sumSize], seal[len(seal)-sumSize:]
	if binary.BigEndian.Uint32(sum) != crc32.Checksum(sealed, castagnoli) {
		return meta, fmt.Errorf("its seal: %w", errBadSeal)
	}
	fields, configuration := sealed[sealHead:sealHead+sealedFields], sealed[sealHead+sealedFields:]
	if err := CheckConfiguration(configuration); err != nil {
		return meta, fmt.Errorf("its seal: %w", err)
	}
	meta.Version = raft.SnapshotVersion(binary.BigEndian.Uint64(fields))
	meta.Index = binary.BigEndian.Uint64(fields[8:])
	meta.Term = binary.BigEndian.Uint64(fields[16:])
	meta.ConfigurationIndex = binary.BigEndian.Uint64(fields[24:])
	meta.Configuration = raft.DecodeConfiguration(configuration)
	return meta, nil
}

// openSealed opens a snapshot, whose metadata must be what its seal says, and
// returns its content behind the seal.
func openSealed(store raft.SnapshotStore, id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	stored, content, err := store.Open(id)
	if err != nil {
		return nil, nil, err
	}
	sealed, size, err := readSeal(content)
	if err == nil && !sameSnapshot(stored, &sealed) {
		err = errors.New("its metadata is not what its seal says")
	}
	if err != nil {
		content.Close()
		return nil, nil, err
	}
	meta := *stored
	meta.Size -= int64(size)
	return &meta, content, nil
}

// sameSnapshot compares what is sealed. It compares values and not encodings,
// which another version of Raft could make differently.
func sameSnapshot(a, b *raft.SnapshotMeta) bool {
	return a.Version == b.Version && a.Index == b.Index && a.Term == b.Term &&
		a.ConfigurationIndex == b.ConfigurationIndex && slices.Equal(a.Configuration.Servers, b.Configuration.Servers)
}
