package fsm

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"runtime"
	"testing"
	"time"
)

// The benchmarks work on a state like that of a large fleet: a million leases
// with keys of 24 bytes, held by 100 owners, acquired in batches.
const (
	benchLeases = 1_000_000
	benchOwners = 100
	benchBatch  = 10_000
)

var bench struct {
	state   *State
	index   uint64
	numbers []Number // by lease
}

func benchKey(lease int) string { return fmt.Sprintf("tenant-%017d", lease) }
func benchOwner(lease int) string {
	return fmt.Sprintf("replica-%03d/0123456789abcdef", lease/benchBatch%benchOwners)
}

func benchAcquire(lease, try int) Command {
	return Command{
		Kind: Acquire, Key: benchKey(lease), Owner: benchOwner(lease),
		RequestID: fmt.Sprintf("%026d", lease*1000+try), TTL: 10 * time.Second,
	}
}

func mustEncode(tb testing.TB, commands []Command) []byte {
	entry, err := AppendEntry(nil, commands)
	if err != nil {
		tb.Fatal(err)
	}
	return entry
}

// benchState returns the state of the large fleet, made once.
func benchState(tb testing.TB) *State {
	if bench.state == nil {
		bench.state = New()
		benchApply(tb, mustEncode(tb, []Command{{Kind: Cluster, Settings: Settings{ClusterID: "c1", LargestTTL: time.Hour}}}), nil)
		for from := 0; from < benchLeases; from += benchBatch {
			var commands []Command
			for lease := from; lease < from+benchBatch; lease++ {
				commands = append(commands, benchAcquire(lease, 0))
			}
			for _, r := range benchApply(tb, mustEncode(tb, commands), nil) {
				bench.numbers = append(bench.numbers, r.Number)
			}
		}
	}
	return bench.state
}

func benchApply(tb testing.TB, entry []byte, dst []Result) []Result {
	bench.index++
	results, err := bench.state.Apply(bench.index, entry, dst[:0])
	if err != nil {
		tb.Fatal(err)
	}
	return results
}

// benchRenewals returns a batch of renewals for each owner: by number or by
// key, in order of the slots or not.
func benchRenewals(tb testing.TB, byNumber, inOrder bool) [][]byte {
	var entries [][]byte
	order := rand.New(rand.NewSource(1)).Perm(benchLeases)
	for from := 0; from < benchLeases; from += benchBatch {
		var commands []Command
		for i := from; i < from+benchBatch; i++ {
			lease := i
			if !inOrder {
				lease = order[i]
			}
			c := Command{Kind: Renew, TTL: 10 * time.Second}
			if byNumber {
				c.Number = bench.numbers[lease]
			} else {
				c.Key, c.Owner, c.Epoch = benchKey(lease), benchOwner(lease), 1
			}
			commands = append(commands, c)
		}
		entries = append(entries, mustEncode(tb, commands))
	}
	return entries
}

// BenchmarkApplyRenew applies entries of 10,000 renewals; the time is that of
// one renewal.
func BenchmarkApplyRenew(b *testing.B) {
	benchState(b)
	for _, c := range []struct {
		name              string
		byNumber, inOrder bool
	}{{"number", true, true}, {"number-scattered", true, false}, {"key-scattered", false, false}} {
		b.Run(c.name, func(b *testing.B) {
			entries := benchRenewals(b, c.byNumber, c.inOrder)
			var results []Result
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; done += benchBatch {
				results = benchApply(b, entries[done/benchBatch%len(entries)], results)
			}
			b.ReportMetric(float64(len(entries[0]))/benchBatch, "log-B/op")
			if results[0].Code != Renewed {
				b.Fatalf("%+v", results[0])
			}
		})
	}
}

// BenchmarkApplyCycle applies releases and acquires of 1,000 keys each; the
// time is that of both for one key.
func BenchmarkApplyCycle(b *testing.B) {
	benchState(b)
	const batch = 1000
	var results []Result
	b.ReportAllocs()
	for done := 0; done < b.N; done += batch {
		b.StopTimer()
		var release, acquire []Command
		for lease := range batch {
			release = append(release, Command{Kind: Release, Number: bench.numbers[lease]})
			acquire = append(acquire, benchAcquire(lease, done/batch+1))
		}
		entries := [][]byte{mustEncode(b, release), mustEncode(b, acquire)}
		b.StartTimer()
		benchApply(b, entries[0], results)
		results = benchApply(b, entries[1], results)
		b.StopTimer()
		for lease := range batch {
			bench.numbers[lease] = results[lease].Number
		}
		b.StartTimer()
	}
	if results[0].Code != Granted {
		b.Fatalf("%+v", results[0])
	}
}

// BenchmarkApplyOneOff acquires, forgets and releases keys that leave nothing
// behind.
func BenchmarkApplyOneOff(b *testing.B) {
	s := benchState(b)
	var results []Result
	b.ReportAllocs()
	for n := range b.N {
		key := fmt.Sprintf("one-off-%d", n)
		results = benchApply(b, mustEncode(b, []Command{{Kind: Acquire, Key: key, Owner: "o", RequestID: "r", TTL: time.Second}}), results)
		number := results[0].Number
		results = benchApply(b, mustEncode(b, []Command{{Kind: Forget, Number: number}, {Kind: Release, Number: number}}), results)
	}
	if records, _ := s.Len(); records != benchLeases {
		b.Fatalf("%d records are left", records)
	}
}

func BenchmarkLookup(b *testing.B) {
	s := benchState(b)
	keys := make([]string, 1<<16)
	for i := range keys {
		keys[i] = benchKey(rand.Intn(benchLeases))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		if !s.Lookup(keys[n%len(keys)]).Known {
			b.Fatal("not known")
		}
	}
}

// BenchmarkTranslate looks numbers up for batches of scattered renewals; the
// time is that of one.
func BenchmarkTranslate(b *testing.B) {
	s := benchState(b)
	commands := make([]Command, 1<<16)
	for i := range commands {
		lease := benchBatch + rand.Intn(benchLeases-benchBatch)
		commands[i] = Command{Kind: Renew, Key: benchKey(lease), Owner: benchOwner(lease), Epoch: 1, TTL: 10 * time.Second}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += len(commands) {
		s.Translate(commands)
	}
	if commands[0].Number == (Number{}) {
		b.Fatal("no number")
	}
}

// BenchmarkList reads a page of 1,000 of a million records.
func BenchmarkList(b *testing.B) {
	s := benchState(b)
	b.ReportAllocs()
	for range b.N {
		if page, _ := s.List("tenant-", "", benchKey(benchLeases/2), 1000); len(page) != 1000 {
			b.Fatalf("%d records", len(page))
		}
	}
}

// BenchmarkSnapshotStall is how long an apply waits for a snapshot to be taken
// (stall-ns), and how long the worst entry takes that comes next, with 10,000
// renewals all over the pages (next-ns), and once more (again-ns).
func BenchmarkSnapshotStall(b *testing.B) {
	s := benchState(b)
	entry := benchRenewals(b, true, false)[0]
	results := make([]Result, 0, benchBatch)
	var stall, next, again time.Duration
	took := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	b.ResetTimer()
	for range b.N {
		var sn *Snapshot
		stall += took(func() { sn = s.Snapshot() })
		next += took(func() { benchApply(b, entry, results) })
		again += took(func() { benchApply(b, entry, results) })
		sn.Release()
	}
	b.ReportMetric(float64(stall)/float64(b.N), "stall-ns")
	b.ReportMetric(float64(next)/float64(b.N), "next-ns")
	b.ReportMetric(float64(again)/float64(b.N), "again-ns")
}

func BenchmarkSnapshotWrite(b *testing.B) {
	sn := benchState(b).Snapshot()
	b.ReportAllocs()
	for range b.N {
		n, err := sn.WriteTo(io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n)/benchLeases, "B/lease")
	}
}

func BenchmarkRestore(b *testing.B) {
	snapshot := snapshotBytes(b, benchState(b))
	b.ResetTimer()
	for range b.N {
		if _, err := Restore(bytes.NewReader(snapshot)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemory reports the live heap that a lease takes, and what a full
// collection costs.
func BenchmarkMemory(b *testing.B) {
	snapshot := snapshotBytes(b, benchState(b))
	before := liveHeap()
	var state *State
	for range b.N {
		var err error
		if state, err = Restore(bytes.NewReader(snapshot)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(liveHeap()-before)/benchLeases, "B/lease")
	start := time.Now()
	runtime.GC()
	b.ReportMetric(float64(time.Since(start)), "gc-ns")
	runtime.KeepAlive(state)
	runtime.KeepAlive(snapshot)
}

func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkEncode(b *testing.B) {
	benchState(b)
	var renewals []Command
	for _, n := range bench.numbers[:benchBatch] {
		renewals = append(renewals, Command{Kind: Renew, Number: n, TTL: 10 * time.Second})
	}
	var entry []byte
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += benchBatch {
		entry, _ = AppendEntry(entry[:0], renewals)
	}
}
