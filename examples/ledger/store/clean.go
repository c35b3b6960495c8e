package store

// clean removes what lower epochs have left. It is safe once the folder's own
// copy is published and the directory synced, for that copy has every entry
// that was acknowledged below its epoch, and every later tenure that lists the
// folder finds it. One that was about to read an older copy finds that missing
// and lists again.
//
// Copies go before seals, with a sync of the directory between: look rests on
// that order. A seal must not go earlier, for a frozen writer of its epoch or a
// lower one may be about to look.
//
// A failure is of no consequence but some files that stay: the next tenure
// removes them. So it is not reported.
func (f folder) clean() {
	found, err := f.list()
	if err != nil {
		return
	}
	if !f.removeBelow(found.drafts, draftName) || !f.removeBelow(found.copies, copyName) {
		return
	}
	if f.disk.syncDir(f.path) != nil {
		return
	}
	f.removeBelow(found.seals, sealName)
}

// removeBelow removes the files of epochs below the folder's own and reports
// whether all of them are gone.
func (f folder) removeBelow(epochs []uint64, name func(uint64) string) bool {
	for _, epoch := range epochs {
		if epoch >= f.epoch {
			continue
		}
		path := f.file(name(epoch))
		if f.disk.remove(path) == nil {
			continue
		}
		// Another tenure may be removing the same ones.
		if there, err := f.disk.exists(path); err != nil || there {
			return false
		}
	}
	return true
}
