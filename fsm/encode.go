package fsm

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"time"
)

// castagnoli is the polynomial of CRC32C, which processors compute.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendEntry appends the log entry with these commands to dst. Equal commands
// have equal entries, whatever the fields hold that don't count for their kind.
//
// Values out of bounds are written as they are, and [State.Apply] answers them
// with [Invalid]. Only what the encoding has no place for is an error: an
// unknown kind, a TTL that is negative or not in whole milliseconds, evidence of
// two kinds at once, a number without a serial, more than [MaxCommands].
func AppendEntry(dst []byte, commands []Command) ([]byte, error) {
	if len(commands) > MaxCommands {
		return dst, fmt.Errorf("entry of %d commands: must be at most %d", len(commands), MaxCommands)
	}
	start := len(dst)
	owners := ownersOf(commands)
	out := append(dst, EntryVersion)
	out = binary.AppendUvarint(out, uint64(len(owners)))
	for _, owner := range owners {
		out = appendText(out, owner)
	}
	for len(commands) > 0 {
		h, n, err := firstRun(commands, owners)
		if err != nil {
			return dst, err
		}
		out = appendRun(out, h, commands[:n])
		commands = commands[n:]
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out[start:], castagnoli)), nil
}

// ownersOf returns the owners that the commands name, in order of their bytes.
// Commands without a form are found out later.
func ownersOf(commands []Command) []string {
	var owners []string
	for i := range commands {
		c := &commands[i]
		if f, err := formOf(c); err != nil || !shapes[f].owner {
			continue
		}
		if last := len(owners) - 1; last < 0 || owners[last] != c.Owner {
			owners = append(owners, c.Owner)
		}
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}

// firstRun returns the head of the commands' first run, and its length.
func firstRun(commands []Command, owners []string) (head, int, error) {
	first, err := headOf(&commands[0], owners)
	if err != nil {
		return head{}, 0, err
	}
	for n := 1; n < len(commands); n++ {
		if h, err := headOf(&commands[n], owners); err != nil || h != first {
			return first, n, err
		}
	}
	return first, len(commands), nil
}

func headOf(c *Command, owners []string) (head, error) {
	f, err := formOf(c)
	h := head{form: f}
	if err != nil {
		return h, err
	}
	if shapes[f].ttl {
		if h.ttl, err = wholeMilliseconds(c.TTL); err != nil {
			return h, err
		}
	}
	if f == changeCluster {
		_, err = wholeMilliseconds(c.Settings.LargestTTL)
	}
	if f == acquireMarked {
		h.marker = c.Evidence.Marker
	}
	if shapes[f].owner {
		at, _ := slices.BinarySearch(owners, c.Owner)
		h.owner = uint64(at)
	}
	return h, err
}

func appendRun(out []byte, h head, run []Command) []byte {
	out = append(out, byte(h.form))
	out = binary.AppendUvarint(out, uint64(len(run)))
	if shapes[h.form].owner {
		out = binary.AppendUvarint(out, h.owner)
	}
	if shapes[h.form].ttl {
		out = binary.AppendUvarint(out, h.ttl)
	}
	if h.form == acquireMarked {
		out = binary.AppendUvarint(out, h.marker)
	}
	if shapes[h.form].number {
		return appendNumbers(out, run)
	}
	var before uint64 // grant index
	for i := range run {
		out = appendItem(out, h.form, &run[i], before)
		before = run[i].Evidence.GrantIndex
	}
	return out
}

func appendItem(out []byte, f form, c *Command, before uint64) []byte {
	if f == changeCluster {
		return appendSettings(out, &c.Settings)
	}
	out = appendText(out, c.Key)
	switch f {
	case acquireFree, acquireMarked, releaseRequest:
		return appendText(out, c.RequestID)
	case acquireExpired:
		out = appendText(out, c.RequestID)
		out = binary.AppendUvarint(out, c.Evidence.Epoch)
		return binary.AppendVarint(out, int64(c.Evidence.GrantIndex-before))
	default:
		return binary.AppendUvarint(out, c.Epoch)
	}
}

func appendSettings(out []byte, s *Settings) []byte {
	out = appendText(out, s.ClusterID)
	out = binary.AppendUvarint(out, uint64(s.LargestTTL/time.Millisecond))
	out = binary.AppendUvarint(out, s.ClearMarker)
	return append(out, byte(bit(s.ResumeFloor)))
}

func appendText[T string | []byte](out []byte, text T) []byte {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...)
}
