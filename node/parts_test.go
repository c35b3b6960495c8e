package node_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/node"
)

// A batch beyond the bounds of one request and of one entry is answered whole,
// through a follower and a client, too.
func TestLargeBatches(t *testing.T) {
	// On a busy machine the batch must not cost the leader its leadership, since
	// a release is not sent again once it may have been applied.
	c := newClusterWith(t, 3, func(cfg *node.Config) { cfg.ElectionTimeout = 2 * time.Second })
	ctx := within(t, 60*time.Second)
	client, err := node.Dial(node.ClientConfig{Addrs: []string{c.others(c.leader())[0].Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const keys = 20000
	ask := tenure.AcquireRequest{Owner: "o"}
	for i := range keys {
		ask.Asks = append(ask.Asks, tenure.Ask{Key: fmt.Sprint("k", i), RequestID: "1", TTL: time.Minute})
	}
	var give tenure.ReleaseRequest
	for i, r := range client.Acquire(ctx, ask) {
		if r.Err != nil || r.Grant.Record.Key != ask.Asks[i].Key {
			t.Fatalf("acquire %d: %+v", i, r)
		}
		give.Endings = append(give.Endings, tenure.Ending{Key: r.Grant.Record.Key, Epoch: r.Grant.Record.Epoch})
	}
	give.Owner, give.Forget = "o", true
	for i, r := range client.Release(ctx, give) {
		if r.Err != nil {
			t.Fatalf("release %d: %v", i, r.Err)
		}
	}
	if s := c.leader().Status(); s.Records != 0 {
		t.Errorf("%d records are left of keys that were forgotten", s.Records)
	}
}
