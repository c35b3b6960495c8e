package node

import "testing"

// Whatever entries there are, the log stays within some budgets of bytes, and a
// configured threshold is never exceeded.
func TestLogLimits(t *testing.T) {
	for _, c := range []struct {
		name                string
		entryBytes, records int
		most                uint64
		threshold, trailing uint64
	}{
		{"small entries", 100, 1000, 8192, 8192, 4096},
		{"large entries", 64 << 10, 1000, 8192, 256, 128},
		{"the largest", 128 << 10, 1000, 8192, minThreshold, minTrailingLogs},
		{"a large state", 64 << 10, 4 << 20, 8192, 1024, 512},
		{"a small threshold", 64 << 10, 1000, 20, 20, minTrailingLogs},
		{"no bytes", 0, 0, 8192, 8192, 4096},
	} {
		t.Run(c.name, func(t *testing.T) {
			threshold, trailing := logLimits(c.entryBytes, c.records, c.most)
			if threshold != c.threshold || trailing != c.trailing {
				t.Errorf("threshold %d, trailing %d, want %d, %d", threshold, trailing, c.threshold, c.trailing)
			}
		})
	}
}
