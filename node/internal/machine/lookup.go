package machine

import (
	"time"

	"example.com/tenure/fsm"
)

// Translate gives each command that names a tenure which stands on this replica
// the tenure's number, by which a command in the log is a few bytes. A command
// of a tenure that this replica does not know carries key, owner and epoch, and
// the log decides.
func (m *Machine) Translate(cmds []fsm.Command) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	m.state.Translate(cmds)
}

// MadeBy reports whether the acquire of that owner and request id made the
// key's present tenure or its last, ended one.
func (m *Machine) MadeBy(key, owner, requestID string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	present, last := m.state.IsRequest(key, owner, requestID)
	return present || last
}

// Cluster returns the cluster's id and largest TTL; "" before its first entry
// is applied.
func (m *Machine) Cluster() (id string, largestTTL time.Duration) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.state.Cluster()
}

// Len returns the number of records, and how many of them are held.
func (m *Machine) Len() (records, held int) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.state.Len()
}
