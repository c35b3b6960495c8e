package fsm

import (
	"time"

	"example.com/tenure"
)

// A model is the rules once more, as simply as they can be said: a map of
// records, no pages, no numbers but a list, nothing incremental.
type model struct {
	id      string
	largest time.Duration
	records map[string]*modelRecord
	serials uint64
	floor   uint64
	base    uint64
	marked  bool
	frozen  bool
}

type modelRecord struct {
	slot             uint32
	serial           uint64
	owner, request   string
	epoch, forgotten uint64
	held             bool
	ttl              time.Duration
	grant            uint64
}

// A verdict is what a result must say.
type verdict struct {
	code     Code
	record   modelRecord // that stands; of a key without one, where it starts
	key      string      // "" if nothing is known of what a number named
	previous Previous
	repeated bool // a forget that changed nothing
}

func newModel() *model { return &model{records: map[string]*modelRecord{}} }

func (m *model) apply(index uint64, c Command) verdict {
	if c.Kind == Cluster {
		return m.change(c.Settings)
	}
	if m.id == "" {
		return verdict{code: Invalid}
	}
	if c.Kind == Acquire {
		return m.acquire(index, c)
	}
	if c.Kind == Renew && tenure.ValidateTTL(c.TTL, m.largest) != nil {
		return verdict{code: Invalid}
	}
	key, ok, v := m.standing(c)
	if !ok {
		return v
	}
	r := m.records[key]
	switch c.Kind {
	case Renew:
		r.ttl, r.grant = max(r.ttl, c.TTL), index
		return verdict{code: Renewed, record: *r, key: key}
	case Forget:
		repeated := r.forgotten == r.epoch
		r.forgotten = r.epoch
		return verdict{code: Forgotten, record: *r, key: key, repeated: repeated}
	}
	r.held, r.ttl, r.grant = false, 0, 0
	v = verdict{code: Released, record: *r, key: key}
	if !m.frozen {
		m.dropForgotten(key)
	}
	return v
}

func (m *model) change(s Settings) verdict {
	if s.ClusterID == "" && s.LargestTTL != 0 || s.ClusterID != "" && m.id != "" && s.ClusterID != m.id {
		return verdict{code: Invalid}
	}
	if s.ClusterID != "" && m.id == "" {
		if len(s.ClusterID) > tenure.MaxRequestIDBytes || tenure.ValidateTTL(s.LargestTTL, tenure.MaxTTL) != nil {
			return verdict{code: Invalid}
		}
		m.id, m.largest = s.ClusterID, s.LargestTTL
	}
	if s.ClearMarker == m.base {
		m.marked = false
	}
	if s.ResumeFloor && m.frozen {
		m.frozen = false
		for key, r := range m.records {
			if r.epoch > m.base {
				m.dropForgotten(key)
			}
		}
	}
	return verdict{code: Changed}
}

func (m *model) dropForgotten(key string) {
	if r := m.records[key]; !r.held && r.forgotten == r.epoch {
		m.floor = max(m.floor, r.epoch)
		delete(m.records, key)
	}
}

func (m *model) acquire(index uint64, c Command) verdict {
	if tenure.ValidateKey(c.Key) != nil || tenure.ValidateOwner(c.Owner) != nil ||
		tenure.ValidateRequestID(c.RequestID) != nil || tenure.ValidateTTL(c.TTL, m.largest) != nil {
		return verdict{code: Invalid}
	}
	r := m.records[c.Key]
	if r != nil && r.owner == c.Owner && r.request == c.RequestID {
		if !r.held {
			return verdict{code: Lost, record: *r, key: c.Key}
		}
		r.ttl, r.grant = max(r.ttl, c.TTL), index
		return verdict{code: Renewed, record: *r, key: c.Key}
	}
	if m.marked && c.Evidence.Marker != m.base {
		v := verdict{code: Held, record: m.standsFor(c.Key), key: c.Key}
		v.record.owner, v.record.held = "", true
		return v
	}
	if r != nil && r.held && (Evidence{Epoch: r.epoch, GrantIndex: r.grant}) != c.Evidence {
		return verdict{code: Held, record: *r, key: c.Key}
	}
	return m.grant(index, c)
}

func (m *model) grant(index uint64, c Command) verdict {
	v := verdict{code: Granted, key: c.Key}
	start := m.standsFor(c.Key)
	if max(start.epoch, m.base) >= tenure.MaxEpoch {
		return verdict{code: Invalid}
	}
	r := m.records[c.Key]
	if r == nil {
		r = &modelRecord{slot: m.lowestSlot()}
		m.records[c.Key] = r
	} else if r.held {
		v.previous = Previous{Owner: r.owner, Epoch: r.epoch}
	}
	m.serials++
	*r = modelRecord{
		slot: r.slot, serial: m.serials, owner: c.Owner, request: c.RequestID,
		epoch: max(start.epoch, m.base) + 1, forgotten: start.forgotten,
		held: true, ttl: c.TTL, grant: index,
	}
	if c.Evidence.Marker != 0 {
		m.marked = false
	}
	v.record = *r
	return v
}

// standsFor returns the record of a key, or where a key without one starts.
func (m *model) standsFor(key string) modelRecord {
	if r := m.records[key]; r != nil {
		return *r
	}
	return modelRecord{epoch: max(m.floor, m.base), forgotten: m.floor}
}

func (m *model) lowestSlot() uint32 {
	used := map[uint32]bool{}
	for _, r := range m.records {
		used[r.slot] = true
	}
	slot := uint32(0)
	for used[slot] {
		slot++
	}
	return slot
}

// standing returns the key of the tenure that a command names, if it stands.
func (m *model) standing(c Command) (string, bool, verdict) {
	if c.Number != (Number{}) {
		for key, r := range m.records {
			if r.slot == c.Number.Slot && r.serial == c.Number.Serial {
				return key, r.held, verdict{code: Lost, record: *r, key: key}
			}
		}
		return "", false, verdict{code: Lost}
	}
	r := m.records[c.Key]
	byID := c.Kind == Release && c.Epoch == 0 && c.RequestID != ""
	switch {
	case r != nil && r.held && r.owner == c.Owner && (byID && r.request == c.RequestID || !byID && r.epoch == c.Epoch):
		return c.Key, true, verdict{}
	case tenure.ValidateKey(c.Key) != nil || tenure.ValidateOwner(c.Owner) != nil,
		byID && tenure.ValidateRequestID(c.RequestID) != nil,
		!byID && tenure.ValidateEpoch(c.Epoch) != nil:
		return "", false, verdict{code: Invalid}
	}
	return "", false, verdict{code: Lost, record: m.standsFor(c.Key), key: c.Key}
}

// end is what a restore from a backup does.
func (m *model) end(base uint64, id string) *model {
	n := *m
	n.records = map[string]*modelRecord{}
	for key, r := range m.records {
		ended := *r
		ended.held, ended.grant, ended.ttl = false, 0, 0
		n.records[key] = &ended
	}
	n.id, n.base, n.marked, n.frozen = id, base, true, true
	return &n
}
