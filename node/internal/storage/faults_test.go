package storage

import (
	"io"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// faults decide what happens to the calls into faulty stores. Names of calls
// are those of the methods: "StoreLogs", "Set", "sink.Write", "source.Read".
type faults struct {
	mu   sync.Mutex
	rule map[string]func() error
}

// on makes calls of a name go through f first, whose error is the call's.
func (f *faults) on(name string, rule func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rule == nil {
		f.rule = make(map[string]func() error)
	}
	f.rule[name] = rule
}

func (f *faults) call(name string) error {
	f.mu.Lock()
	rule := f.rule[name]
	f.mu.Unlock()
	if rule == nil {
		return nil
	}
	return rule()
}

// faulty is a storage whose calls can be made to fail.
type faulty struct {
	inner  Storage
	faults *faults
}

func (s faulty) Open(logger hclog.Logger) (Stores, error) {
	stores, err := s.inner.Open(logger)
	if err != nil {
		return stores, err
	}
	stores.Log = faultyLog{stores.Log, s.faults}
	stores.Stable = faultyStable{stores.Stable, s.faults}
	stores.Snapshots = faultySnapshots{stores.Snapshots, s.faults}
	closeInner := stores.Close
	stores.Close = func() error {
		if err := s.faults.call("Close"); err != nil {
			return err
		}
		return closeInner()
	}
	return stores, nil
}

type faultyLog struct {
	raft.LogStore
	faults *faults
}

func (l faultyLog) FirstIndex() (uint64, error) {
	if err := l.faults.call("FirstIndex"); err != nil {
		return 0, err
	}
	return l.LogStore.FirstIndex()
}

func (l faultyLog) LastIndex() (uint64, error) {
	if err := l.faults.call("LastIndex"); err != nil {
		return 0, err
	}
	return l.LogStore.LastIndex()
}

func (l faultyLog) GetLog(index uint64, log *raft.Log) error {
	if err := l.faults.call("GetLog"); err != nil {
		return err
	}
	return l.LogStore.GetLog(index, log)
}

func (l faultyLog) StoreLogs(logs []*raft.Log) error {
	if err := l.faults.call("StoreLogs"); err != nil {
		return err
	}
	return l.LogStore.StoreLogs(logs)
}

func (l faultyLog) DeleteRange(from, to uint64) error {
	if err := l.faults.call("DeleteRange"); err != nil {
		return err
	}
	return l.LogStore.DeleteRange(from, to)
}

type faultyStable struct {
	raft.StableStore
	faults *faults
}

func (s faultyStable) Set(key, value []byte) error {
	if err := s.faults.call("Set"); err != nil {
		return err
	}
	return s.StableStore.Set(key, value)
}

func (s faultyStable) Get(key []byte) ([]byte, error) {
	if err := s.faults.call("Get"); err != nil {
		return nil, err
	}
	return s.StableStore.Get(key)
}

type faultySnapshots struct {
	raft.SnapshotStore
	faults *faults
}

func (s faultySnapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	if err := s.faults.call("Create"); err != nil {
		return nil, err
	}
	sink, err := s.SnapshotStore.Create(version, index, term, configuration, configurationIndex, trans)
	return faultySink{sink, s.faults}, err
}

func (s faultySnapshots) List() ([]*raft.SnapshotMeta, error) {
	if err := s.faults.call("List"); err != nil {
		return nil, err
	}
	return s.SnapshotStore.List()
}

func (s faultySnapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	if err := s.faults.call("Open"); err != nil {
		return nil, nil, err
	}
	meta, source, err := s.SnapshotStore.Open(id)
	return meta, faultySource{source, s.faults}, err
}

type faultySink struct {
	raft.SnapshotSink
	faults *faults
}

func (s faultySink) Write(p []byte) (int, error) {
	if err := s.faults.call("sink.Write"); err != nil {
		return 0, err
	}
	return s.SnapshotSink.Write(p)
}

func (s faultySink) Close() error {
	if err := s.faults.call("sink.Close"); err != nil {
		return err
	}
	return s.SnapshotSink.Close()
}

type faultySource struct {
	io.ReadCloser
	faults *faults
}

func (s faultySource) Read(p []byte) (int, error) {
	if err := s.faults.call("source.Read"); err != nil {
		return 0, err
	}
	return s.ReadCloser.Read(p)
}
