package fsm

import (
	"fmt"
	"time"

	"example.com/tenure"
)

// Ended returns the first state of a new cluster, restored from this state of
// an old one. Grants that the old cluster made later are unknown to it, so
//
//   - every tenure is ended: its number, epoch and request id are all lost;
//   - every later epoch is above base;
//   - the restore marker, whose number is base, stands for an unknown tenure of
//     every key;
//   - no record is dropped and the forgotten floor stands still, until a
//     [Cluster] command resumes the floor.
//
// Its log starts anew: any index can follow. Ended refuses a base that does not
// exceed every epoch, the floor and the base of this state, and an id that is
// invalid or this cluster's. This state stays as it is.
//
// The window is how long the marker holds, once it was seen: the largest TTL of
// the old cluster, unless it is known that holders have stopped.
func (s *State) Ended(base uint64, clusterID string, window time.Duration, options ...Option) (*State, error) {
	if err := s.checkEnded(base, clusterID, window); err != nil {
		return nil, err
	}
	n := New(options...)
	n.globals = globals{
		clusterID: clusterID,
		largest:   s.largest,
		serials:   s.serials,
		floor:     s.floor,
		base:      base,
		marked:    true,
		window:    window,
		frozen:    true,
	}
	for slot := range s.Slots() {
		if _, t := s.at(slot); t != nil {
			n.slots.takeAt(slot)
			n.create(slot, texts{s.key(slot), []byte(s.owners.name(t.owner)), s.id(slot)}, t.epochs, grant{})
		}
	}
	return n, n.fault
}

func (s *State) checkEnded(base uint64, clusterID string, window time.Duration) error {
	if s.clusterID == "" {
		return fmt.Errorf("the state is of no cluster: there is nothing to restore")
	}
	if err := ValidateClusterID(clusterID); err != nil {
		return err
	}
	if clusterID == s.clusterID {
		return &tenure.InvalidError{Field: "cluster_id", Value: fmt.Sprintf("%q", clusterID), Bound: "another than that of the restored cluster"}
	}
	if window < 0 || window > tenure.MaxTTL || window%time.Millisecond != 0 {
		return &tenure.InvalidError{Field: "window", Value: window.String(), Bound: fmt.Sprintf("a whole number of milliseconds from 0s to %v", tenure.MaxTTL)}
	}
	highest := s.highestEpoch()
	if base <= highest || base >= tenure.MaxEpoch {
		return &tenure.InvalidError{
			Field: "epoch_above",
			Value: fmt.Sprint(base),
			Bound: fmt.Sprintf("above %d, the highest epoch in the state, and below %d", highest, uint64(tenure.MaxEpoch)),
		}
	}
	return nil
}

// highestEpoch returns the highest of all epochs, the floor and the base.
func (s *State) highestEpoch() uint64 {
	highest := max(s.floor, s.base)
	for slot := range s.Slots() {
		if _, t := s.at(slot); t != nil {
			highest = max(highest, t.epoch)
		}
	}
	return highest
}
