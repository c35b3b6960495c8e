package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

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
	sealedFields    = 4 * 8                  // version, index, term, configuration index
	sealHead        = len(snapshotMagic) + 4 // magic and length
	maxSnapshotSeal = sealHead + 1<<20 + 4   // a configuration is far smaller
	minSnapshotSeal = sealHead + sealedFields + 4
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

// readSeal reads a seal from the beginning of a snapshot's content.
func readSeal(content io.Reader) ([]byte, error) {
	seal := make([]byte, sealHead)
	if _, err := io.ReadFull(content, seal); err != nil {
		return nil, fmt.Errorf("its seal can't be read: %w", err)
	}
	length := int(binary.BigEndian.Uint32(seal[len(snapshotMagic):])) + sealHead + 4
	if string(seal[:len(snapshotMagic)]) != snapshotMagic || length < minSnapshotSeal || length > maxSnapshotSeal {
		return nil, errors.New("it does not begin with a seal")
	}
	seal = append(seal, make([]byte, length-sealHead)...)
	if _, err := io.ReadFull(content, seal[sealHead:]); err != nil {
		return nil, fmt.Errorf("its seal can't be read: %w", err)
	}
	return seal, nil
}

// openSealed opens a snapshot, whose metadata must be what its seal says, and
// returns its content behind the seal.
func openSealed(store raft.SnapshotStore, id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	stored, content, err := store.Open(id)
	if err != nil {
		return nil, nil, err
	}
	seal, err := readSeal(content)
	if err == nil && !bytes.Equal(seal, sealSnapshot(stored)) {
		err = errors.New("its metadata is not what its seal says")
	}
	if err != nil {
		content.Close()
		return nil, nil, err
	}
	meta := *stored
	meta.Size -= int64(len(seal))
	return &meta, content, nil
}
