package node

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/raft"
)

// An identity is what a data folder is: a node's, made once, and from the
// founding or the join on a member's of one cluster. It is kept in the stable
// store, next to Raft's vote.
//
// Invariant: a node takes part in Raft only once the identity on its disk holds
// the cluster id. A wiped folder under a known id therefore neither votes nor
// acknowledges what an earlier life of the node promised.
type identity struct {
	ID          string `json:"id"`
	Incarnation string `json:"incarnation"`
	ClusterID   string `json:"cluster_id,omitempty"`
	LargestTTL  int64  `json:"largest_ttl_ms,omitempty"`
	// Founders are all nodes of the founding, on the node that decided it.
	Founders []founder `json:"founders,omitempty"`
	// Told says that all founders know that they are.
	Told bool `json:"told,omitempty"`
	// Admitted says that a join was answered: the node is a member as it asked
	// for. Until then it asks again at every start, and never after.
	Admitted bool `json:"admitted,omitempty"`
	Removed  bool `json:"removed,omitempty"` // from the cluster, for good
	// Addr is the address that the node advertised when the cluster last heard
	// of it.
	Addr string `json:"addr,omitempty"`
}

// A founder is a node of the founding.
type founder struct {
	ID          string `json:"id"`
	Incarnation string `json:"incarnation"`
	Addr        string `json:"addr"`
}

func (f founder) serverID() raft.ServerID { return serverID(f.ID, f.Incarnation) }

func (i identity) serverID() raft.ServerID { return serverID(i.ID, i.Incarnation) }

func (i identity) largestTTL() time.Duration { return time.Duration(i.LargestTTL) * time.Millisecond }

// serverID names a node to Raft by its id and incarnation, so that a node that
// lost its data is another server.
func serverID(id, incarnation string) raft.ServerID {
	return raft.ServerID(id + "/" + incarnation)
}

// splitServerID is the inverse of serverID.
func splitServerID(server raft.ServerID) (id, incarnation string) {
	id, incarnation, _ = strings.Cut(string(server), "/")
	return id, incarnation
}

// newToken returns 128 random bits in hex, for an incarnation or a cluster id.
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// identityKey is where the identity is in the stable store.
var identityKey = []byte("tenure.identity")

// A keeper of small values that survive restarts.
type keeper interface {
	Read(key []byte) (value []byte, err error) // nil, nil if there is none
	Write(key, value []byte) error
}

// loadIdentity reads the identity of the data, or makes one for empty data. It
// refuses the data of another node.
func loadIdentity(k keeper, id string) (identity, error) {
	value, err := k.Read(identityKey)
	if err != nil {
		return identity{}, fmt.Errorf("reading the node's identity: %w", err)
	}
	if value == nil {
		fresh := identity{ID: id, Incarnation: newToken()}
		return fresh, fresh.save(k)
	}
	var i identity
	if err := json.Unmarshal(value, &i); err != nil {
		return identity{}, fmt.Errorf("reading the node's identity: %w", err)
	}
	if i.ID != id {
		return identity{}, fmt.Errorf("the data is that of node %q, not of %q: use the folder of this node, or an empty one to begin anew", i.ID, id)
	}
	return i, nil
}

func (i identity) save(k keeper) error {
	value, err := json.Marshal(i)
	if err != nil {
		return err
	}
	if err := k.Write(identityKey, value); err != nil {
		return fmt.Errorf("writing the node's identity: %w", err)
	}
	return nil
}
