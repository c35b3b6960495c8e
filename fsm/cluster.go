package fsm

import (
	"fmt"

	"example.com/tenure"
)

// change applies a Cluster command: all of it, or nothing if a value is
// invalid.
func (s *State) change(c *Settings, r *Result) {
	if r.Reason = s.invalidSettings(c); r.Reason != "" {
		r.Code = Invalid
		return
	}
	if s.clusterID == "" {
		s.clusterID, s.largest = c.ClusterID, c.LargestTTL
	}
	if c.ClearMarker != 0 && c.ClearMarker == s.base {
		s.marked = false
	}
	if c.ResumeFloor {
		s.thaw()
	}
	r.Code = Changed
}

func (s *State) invalidSettings(c *Settings) string {
	switch {
	case c.ClusterID == "" && c.LargestTTL != 0:
		return "invalid largest_ttl: it is set together with the cluster's id, and never again"
	case c.ClusterID == "" || c.ClusterID == s.clusterID:
		return ""
	case s.clusterID != "":
		return fmt.Sprintf("invalid cluster_id %q: this is cluster %q", c.ClusterID, s.clusterID)
	}
	if err := ValidateClusterID(c.ClusterID); err != nil {
		return err.Error()
	}
	if tenure.ValidateTTL(c.LargestTTL, tenure.MaxTTL) != nil {
		return fmt.Sprintf("invalid largest_ttl %v: must be a whole number of milliseconds from %v to %v", c.LargestTTL, tenure.MinTTL, tenure.MaxTTL)
	}
	return ""
}

// thaw ends what a restore has frozen. Records that were released and
// forgotten meanwhile are dropped now, which looks at every record once.
//
// A record that was forgotten up to its epoch before the restore stays: the
// old cluster may have dropped it, granted its key anew and lost that, and the
// floor, which keeps rising, would in time declare the copies of that later
// tenure dead. The record goes once its key was used and forgotten again.
func (s *State) thaw() {
	if !s.frozen {
		return
	}
	s.frozen = false
	for slot := range s.Slots() {
		if _, t := s.at(slot); t != nil && !s.held(slot) && t.epoch > s.base {
			s.settle(slot)
		}
	}
}

// ValidateClusterID reports, as a [*tenure.InvalidError], an id that no cluster
// can have. It has the bounds of a request id.
func ValidateClusterID(id string) error {
	if tenure.ValidateRequestID(id) == nil {
		return nil
	}
	return &tenure.InvalidError{
		Field: "cluster_id",
		Value: fmt.Sprintf("%.64q", id),
		Bound: fmt.Sprintf("1 to %d bytes of UTF-8 without control characters", tenure.MaxRequestIDBytes),
	}
}
