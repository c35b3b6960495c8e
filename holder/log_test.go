package holder_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
	"example.com/tenure/holder"
)

// A logBuffer can be written and read at once.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) count(s string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.buf.String(), s)
}

// Goal: an operator reads what happened to the leases, in a few lines for an
// outage of many.
func TestLog(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		log := &logBuffer{}
		h := b.make(holder.Config{Replica: "replica-2", TTL: ttl, Logger: hclog.New(&hclog.LoggerOptions{Output: log})})
		for i, r := range h.AcquireMany(t.Context(), []string{"t-0", "t-1", "t-2"}) {
			if r.Err != nil {
				t.Fatal(i, r.Err)
			}
		}
		b.store.SetReachable(false)
		time.Sleep(2 * ttl)
		b.store.SetReachable(true)
		time.Sleep(ttl / 2)
		lost, _ := h.Lookup("t-0")
		b.store.Store.Release(t.Context(), tenure.ReleaseRequest{
			Owner: h.Owner(), Endings: []tenure.Ending{{Key: "t-0", Epoch: lost.Epoch()}},
		})
		time.Sleep(2 * ttl)
		for line, most := range map[string]int{
			"renewals get no answer":              1,
			"renewals are answered again":         1,
			"resumed leases":                      3,
			"lost a lease: key=t-0":               1,
			"released a lease that nobody served": 2,
		} {
			if n := log.count(line); n < 1 || n > most {
				t.Errorf("%q stands %d times in the log, want 1 to %d", line, n, most)
			}
		}
	})
}
