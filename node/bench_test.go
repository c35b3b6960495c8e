package node_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/tenure/node"
)

// BenchmarkCycle is acquire and release of keys of their own, by concurrent
// callers of one client, on three nodes with bolt on this machine's disk.
func BenchmarkCycle(b *testing.B) {
	c := newBenchCluster(b)
	client, err := node.Dial(node.ClientConfig{Addrs: c})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	var ids atomic.Int64 // a request id is never used twice
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			ctx := context.Background()
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for w := range callers {
				wg.Go(func() {
					key := fmt.Sprint("bench-", w)
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						g, err := acquire(ctx, client, key, "o", fmt.Sprint(ids.Add(1)), time.Minute, 0)
						if err == nil {
							err = release(ctx, client, key, "o", g.Record.Epoch)
						}
						if err != nil {
							b.Errorf("%s: %v", key, err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
		})
	}
}

// newBenchCluster opens three nodes and returns their addresses.
func newBenchCluster(b *testing.B) (addrs []string) {
	var peers []node.Peer
	for i := range 3 {
		addr := freeAddr(b)
		peers = append(peers, node.Peer{ID: fmt.Sprint("n", i), Addr: addr})
		addrs = append(addrs, addr)
	}
	nodes := make([]*node.Node, len(peers))
	for i, p := range peers {
		n, err := node.Open(context.Background(), node.Config{ID: p.ID, Listen: p.Addr, Peers: peers, Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { n.Close() })
		nodes[i] = n
	}
	for _, n := range nodes {
		if err := n.WaitReady(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	return addrs
}
