package raftwal

import "testing"

// Reading a segment of any bytes ends, without a panic, and within it.
func FuzzScanSegment(f *testing.F) {
	dir := f.TempDir()
	l := openLog(f, dir)
	l.append(1, 4)
	l.append(5, 6)
	l.close()
	good := readFile(f, newestSegment(f, dir))
	f.Add(good)
	f.Add(good[:700])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := scanSegment(b); err == nil && (s.end > len(b) || s.index > s.end) {
			t.Errorf("%+v of %d bytes", s, len(b))
		}
	})
}
