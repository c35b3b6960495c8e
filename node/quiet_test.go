package node_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure/node"
)

// A lockedBuffer can be written to from several goroutines.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// A shutdown in which nothing fails logs no error: neither the node that stops,
// whatever it is to the others, nor those that go on.
func TestCleanShutdownLogsNoError(t *testing.T) {
	var logged lockedBuffer
	log := hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: &logged})
	c := newClusterWith(t, 3, func(cfg *node.Config) { cfg.Logger = log })
	ctx := within(t, 30*time.Second)
	if _, err := acquire(ctx, c.leader(), "k", "o", "1", time.Minute, 0); err != nil {
		t.Fatal(err)
	}
	follower := c.others(c.leader())[0]
	for _, n := range []*node.Node{follower, c.leader()} {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, n := range c.others(nil) {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	if text := logged.String(); text != "" {
		t.Errorf("logged:\n%s", text)
	}
}
