package store

import (
	"fmt"
	"strconv"
	"strings"

	"example.com/tenure"
)

// A listing is what a folder holds, by kind, as epochs. Files of other names
// are an operator's own and none of the store's business.
type listing struct {
	seals  []uint64
	copies []uint64
	drafts []uint64
}

const (
	sealPrefix  = "seal-"
	copyPrefix  = "copy-"
	draftPrefix = "draft-"
	epochDigits = 20 // so that names sort by epoch
)

func sealName(epoch uint64) string  { return epochName(sealPrefix, epoch) }
func copyName(epoch uint64) string  { return epochName(copyPrefix, epoch) }
func draftName(epoch uint64) string { return epochName(draftPrefix, epoch) }

func epochName(prefix string, epoch uint64) string {
	return fmt.Sprintf("%s%0*d", prefix, epochDigits, epoch)
}

func newListing(names []string) listing {
	var l listing
	for _, name := range names {
		for prefix, kind := range map[string]*[]uint64{sealPrefix: &l.seals, copyPrefix: &l.copies, draftPrefix: &l.drafts} {
			if epoch, ok := parseName(name, prefix); ok {
				*kind = append(*kind, epoch)
			}
		}
	}
	return l
}

func parseName(name, prefix string) (epoch uint64, ok bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || len(digits) != epochDigits {
		return 0, false
	}
	epoch, err := strconv.ParseUint(digits, 10, 64)
	return epoch, err == nil && tenure.ValidateEpoch(epoch) == nil
}

// above returns the highest epoch above the given one that has left a seal or a
// copy, or 0.
func (l listing) above(epoch uint64) uint64 {
	if top := max(highest(l.seals), highest(l.copies)); top > epoch {
		return top
	}
	return 0
}

// newest returns the highest epoch of a live copy, or 0.
func (l listing) newest(live func(uint64) bool) uint64 {
	var top uint64
	for _, epoch := range l.copies {
		if epoch > top && live(epoch) {
			top = epoch
		}
	}
	return top
}

func highest(epochs []uint64) uint64 {
	var top uint64
	for _, epoch := range epochs {
		top = max(top, epoch)
	}
	return top
}
