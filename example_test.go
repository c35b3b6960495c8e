package tenure_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"example.com/tenure/holder"
	"example.com/tenure/node"
)

// serve is one replica of a service: it owns a tenant while nobody else does,
// and writes for it.
func serve(ctx context.Context, cfg node.Config, write func(ctx context.Context, epoch uint64) error) error {
	n, err := node.Open(ctx, cfg) // this process is a node of the lease cluster
	if err != nil {
		return err
	}
	defer n.Close()
	h, err := holder.New(holder.Config{Store: n, Replica: cfg.ID, TTL: 10 * time.Second})
	if err != nil {
		return err
	}
	defer h.Close(context.WithoutCancel(ctx)) // hands all that it owns to those who wait

	lease, err := h.AcquireWait(ctx, "tenant-42") // stands in line until the tenant is ours
	if err != nil {
		return err
	}
	return lease.Do(ctx, func(ctx context.Context) error { // nil: acknowledge to the client
		return write(ctx, lease.Epoch())
	})
}

// A cluster of one node, which is its own quorum. A fleet lists all its replicas
// in Peers.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "tenure-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	addr := freeAddr()
	cfg := node.Config{ID: "n1", Listen: addr, Dir: dir, Peers: []node.Peer{{ID: "n1", Addr: addr}}}
	err = serve(ctx, cfg, func(_ context.Context, epoch uint64) error {
		fmt.Println("written under epoch", epoch)
		return nil
	})
	fmt.Println("error:", err)
	// Output:
	// written under epoch 1
	// error: <nil>
}

// freeAddr returns an address on loopback that nobody listens on.
func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
