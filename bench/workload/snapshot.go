package workload

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"time"

	"example.com/tenure/bench/contender"
	"example.com/tenure/fsm"
)

// snapshotBatch is how many renewals an entry has.
const snapshotBatch = 10_000

// snapshot measures how long a snapshot of a million records holds up applies:
// the taking of it, and what the worst entry that comes next takes longer, for
// copying the pages that it writes to while the snapshot holds them.
func (b *Bench) snapshot(context.Context) error {
	if len(b.only(contender.Tenure)) == 0 {
		return nil
	}
	s, err := newFleet(b.Million)
	if err != nil {
		return err
	}
	for range b.Rounds {
		before, err := s.timed()
		if err != nil {
			return err
		}
		began := time.Now()
		taken := s.state.Snapshot()
		taking := time.Since(began)
		after, err := s.timed()
		if err != nil {
			return err
		}
		began = time.Now()
		size, err := taken.WriteTo(io.Discard)
		if err != nil {
			return err
		}
		writing := time.Since(began)
		taken.Release()
		b.Results.Add("snapshot/stall", contender.Tenure, "ms", milliseconds(taking+max(after-before, 0)))
		b.Results.Add("snapshot/taking", contender.Tenure, "ms", milliseconds(taking))
		b.Results.Add("snapshot/encoding", contender.Tenure, "ms", milliseconds(writing))
		b.Results.Add("snapshot/size", contender.Tenure, "bytes/lease", float64(size)/float64(b.Million))
	}
	b.logf("snapshot: measured")
	return nil
}

// A fleet is a state machine with many leases, and an entry that renews some of
// them, all over the state.
type fleet struct {
	state   *fsm.State
	index   uint64
	numbers []fsm.Number
	results []fsm.Result
	entry   []byte
}

func newFleet(n int) (*fleet, error) {
	f := &fleet{state: fsm.New()}
	settings := fsm.Settings{ClusterID: "c1", LargestTTL: time.Hour}
	if err := f.apply([]fsm.Command{{Kind: fsm.Cluster, Settings: settings}}); err != nil {
		return nil, err
	}
	for from := 0; from < n; from += snapshotBatch {
		var commands []fsm.Command
		for i := from; i < min(from+snapshotBatch, n); i++ {
			commands = append(commands, fsm.Command{Kind: fsm.Acquire, Key: leaseKey(i), Owner: fmt.Sprintf("replica-%d", from%100),
				RequestID: fmt.Sprintf("%026d", i), TTL: 10 * time.Second})
		}
		if err := f.apply(commands); err != nil {
			return nil, err
		}
		for _, r := range f.results {
			f.numbers = append(f.numbers, r.Number)
		}
	}
	var renewals []fsm.Command
	for range snapshotBatch {
		renewals = append(renewals, fsm.Command{Kind: fsm.Renew, TTL: 10 * time.Second, Number: f.numbers[rand.Intn(n)]})
	}
	var err error
	f.entry, err = fsm.AppendEntry(nil, renewals)
	return f, err
}

func (f *fleet) apply(commands []fsm.Command) error {
	entry, err := fsm.AppendEntry(nil, commands)
	if err != nil {
		return err
	}
	return f.applyEntry(entry)
}

func (f *fleet) applyEntry(entry []byte) (err error) {
	f.index++
	f.results, err = f.state.Apply(f.index, entry, f.results[:0])
	return err
}

// timed returns how long the entry takes.
func (f *fleet) timed() (time.Duration, error) {
	began := time.Now()
	err := f.applyEntry(f.entry)
	return time.Since(began), err
}
