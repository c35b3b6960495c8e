package node

import "testing"

// Only who was known by the address that it advertised has moved when it
// advertises another one.
func TestMoved(t *testing.T) {
	for _, c := range []struct {
		was, now, listed string
		want             bool
	}{
		{"10.0.0.1:7400", "10.0.0.2:7400", "10.0.0.1:7400", true},
		{"10.0.0.1:7400", "10.0.0.1:7400", "10.0.0.1:7400", false},
		{"10.0.0.1:7400", "10.0.0.2:7400", "10.0.0.2:7400", false}, // the cluster knows
		{"10.0.0.1:7400", "10.0.0.2:7400", "n1.local:7400", false}, // a name in the list of peers
	} {
		if got := moved(c.was, c.now, c.listed); got != c.want {
			t.Errorf("moved(%s, %s, %s) = %v", c.was, c.now, c.listed, got)
		}
	}
}
