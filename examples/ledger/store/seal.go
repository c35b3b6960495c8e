package store

import (
	"errors"
	"io/fs"
)

// seal seals every epoch below the folder's own, durably. It refuses where an
// epoch from the folder's own upwards has been here before.
//
// The seal is a file of the epoch's own that is created exclusively, and not
// one file that holds the highest sealed epoch: such a file can't be raised by
// a rename alone. A successor that read it and was then frozen would write its
// own, lower epoch over a higher one, and open the gate again for a writer that
// its successor has already read. Creating a file undoes nothing, and the
// highest name counts, whatever order they were created in.
func (f folder) seal() error {
	found, err := f.list()
	if err != nil {
		return err
	}
	if by := found.above(f.epoch - 1); by != 0 {
		return &SealedError{Key: f.key, Epoch: f.epoch, By: by}
	}
	seal, err := f.disk.create(f.file(sealName(f.epoch)))
	if errors.Is(err, fs.ErrExist) {
		return &SealedError{Key: f.key, Epoch: f.epoch, By: f.epoch}
	}
	if err != nil {
		return err
	}
	if err := seal.Close(); err != nil {
		return err
	}
	return f.disk.syncDir(f.path)
}

// look returns a [SealedError] if an epoch above the folder's own was sealing
// when look was called. It is called after what is to be acknowledged has
// become durable in the folder's own copy, and the copy has its name.
//
// Why no seal is overlooked. Let seal-H be the highest that had been created
// when look was called. The listing is not atomic (POSIX leaves open whether it
// shows a name that is created or removed meanwhile), but it shows every name
// that was there all the time. So it can only lack seal-H if that was removed
// before the listing ended: by a tenure of an epoch N > H. By the choice of H,
// seal-N was created after look was called, when our copy had its name. That
// tenure lists the folder after it created its seal, removes every copy of a
// lower epoch, ours among them, and only then lower seals (clean). So our copy
// was gone before the listing ended, nobody ever gives it its name again, and
// the second check, which must come after the listing, finds it missing.
func (f folder) look() error {
	found, err := f.list()
	if err != nil {
		return err
	}
	if by := found.above(f.epoch); by != 0 {
		return &SealedError{Key: f.key, Epoch: f.epoch, By: by}
	}
	there, err := f.disk.exists(f.file(copyName(f.epoch)))
	if err != nil {
		return err
	}
	if !there {
		return &SealedError{Key: f.key, Epoch: f.epoch}
	}
	return nil
}
