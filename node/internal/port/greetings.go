package port

import (
	"slices"
	"sync"
)

// greetings are the accepted connections that have not yet said what they are
// for. There is room for so many; one more makes the oldest leave, so that
// those who say nothing can't keep out those who do.
type greetings struct {
	most int

	mu    sync.Mutex
	order []*conn
}

// enter takes c in.
func (g *greetings) enter(c *conn) {
	g.mu.Lock()
	var oldest *conn
	if len(g.order) >= g.most {
		oldest = g.order[0]
		g.order = slices.Delete(g.order, 0, 1)
	}
	g.order = append(g.order, c)
	g.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
}

// leave takes c out, if it is still in.
func (g *greetings) leave(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.order, c); i >= 0 {
		g.order = slices.Delete(g.order, i, i+1)
	}
}
