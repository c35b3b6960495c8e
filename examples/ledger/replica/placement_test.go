package replica

import (
	"testing"

	"pgregory.net/rapid"
)

var names = []string{"r1", "r2", "r3", "r4", "r5"}

// The goal: when a replica dies only its own tenants move, and when one joins
// only tenants that it gets.
func TestOnlyWhatMustMoveMoves(t *testing.T) {
	p := newPlacement(Tenants(200), names)
	rapid.Check(t, func(t *rapid.T) {
		alive := make(map[string]bool)
		for _, name := range names {
			alive[name] = rapid.Bool().Draw(t, name)
		}
		changed := rapid.SampledFrom(names).Draw(t, "changed")
		for _, tenant := range Tenants(200) {
			alive[changed] = false
			without := p.home(tenant, func(id string) bool { return alive[id] })
			alive[changed] = true
			with := p.home(tenant, func(id string) bool { return alive[id] })
			if with != without && with != changed {
				t.Fatalf("%s: its home is %s without %s, and %s with it", tenant, without, changed, with)
			}
			if !alive[with] {
				t.Fatalf("%s: its home %q is not alive", tenant, with)
			}
		}
	})
}

// The goal: hand-overs come to an end, whatever each replica believes: each goes
// to a replica before the owner in the tenant's order.
func TestHandOversDontGoRound(t *testing.T) {
	p := newPlacement(Tenants(20), names)
	rapid.Check(t, func(t *rapid.T) {
		tenant := rapid.SampledFrom(Tenants(20)).Draw(t, "tenant")
		owner := rapid.SampledFrom(names).Draw(t, "owner")
		moves := 0
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				if to := rapid.SampledFrom(names).Draw(t, "to"); p.before(tenant, to, owner) {
					owner = to
					moves++
				}
			},
			"": func(t *rapid.T) {
				if moves >= len(names) {
					t.Fatalf("%s moved %d times among %d replicas", tenant, moves, len(names))
				}
			},
		})
	})
}

func TestEveryReplicaHasAShare(t *testing.T) {
	for n := 2; n <= len(names); n++ {
		alive := names[:n]
		p := newPlacement(Tenants(1000), alive)
		shares := make(map[string]int)
		for _, tenant := range Tenants(1000) {
			shares[p.home(tenant, func(string) bool { return true })]++
		}
		for _, id := range alive {
			if share, fair := shares[id], 1000/n; share < fair*3/4 || share > fair*5/4 {
				t.Errorf("%s of %d has %d of 1000 tenants, want about %d", id, n, share, fair)
			}
		}
	}
}

func TestNobodyAlive(t *testing.T) {
	p := newPlacement(Tenants(1), names)
	if home := p.home(Tenants(1)[0], func(string) bool { return false }); home != "" {
		t.Errorf("the home is %q, want none", home)
	}
	if p.before(Tenants(1)[0], "stranger", "r1") || p.before(Tenants(1)[0], "r1", "stranger") {
		t.Error("a replica that the fleet doesn't have has a place in the order")
	}
}

func TestPeers(t *testing.T) {
	const list = "r1=127.0.0.1:7501/127.0.0.1:8001,r2=[::1]:7502/[::1]:8002"
	peers, err := ParsePeers(list)
	if err != nil || len(peers) != 2 || peers[1] != (Peer{ID: "r2", Node: "[::1]:7502", HTTP: "[::1]:8002"}) {
		t.Errorf("parsed %+v, %v", peers, err)
	}
	if got := FormatPeers(peers); got != list {
		t.Errorf("formatted %q, want %q", got, list)
	}
	for _, bad := range []string{"", "r1", "r1=a:1", "=a:1/b:2", "r1=a:1/", "r1=a:1/b:2,"} {
		if got, err := ParsePeers(bad); err == nil {
			t.Errorf("%q: parsed %+v", bad, got)
		}
	}
	for owner, want := range map[string]string{"r1/abc": "r1", "r1": "r1", "": ""} {
		if got := replicaOf(owner); got != want {
			t.Errorf("the replica of owner %q is %q, want %q", owner, got, want)
		}
	}
}
