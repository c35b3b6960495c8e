package wire

import "fmt"

// Check is what an accepting end has to check of any hello: it returns why
// peer is refused, or nil. Whether peer is a member is for the node to say.
func Check(self, peer Hello) *Refused {
	refuse := refuser(peer)
	switch {
	case peer.ProtocolVersion < MinVersion:
		return refuse(CodeVersion, "it speaks protocol version %d, this node at least %d: upgrade it", peer.ProtocolVersion, MinVersion)
	case peer.Purpose != PurposeRaft && peer.Purpose != PurposeAPI:
		return refuse(CodePurpose, "a connection for %s", peer.Purpose)
	case peer.ExpectID != "" && peer.ExpectID != self.NodeID:
		return refuse(CodeOtherNode, "this is node %s, not %s: correct the address of %s", self.NodeID, peer.ExpectID, peer.ExpectID)
	case peer.ExpectIncarnation != "" && peer.ExpectIncarnation != self.Incarnation:
		return refuse(CodeOtherIncarnation, "node %s has the data folder %s, not %s: remove it from the cluster and join it anew",
			self.NodeID, self.Incarnation, peer.ExpectIncarnation)
	}
	return checkCluster(self, peer)
}

// CheckAnswer is what a dialling end has to check of the hello that answered
// its own, self: it returns why peer is refused, or nil.
func CheckAnswer(self, peer Hello) *Refused {
	refuse := refuser(peer)
	switch {
	case peer.ProtocolVersion < MinVersion:
		return refuse(CodeVersion, "it speaks protocol version %d, this end at least %d: upgrade it", peer.ProtocolVersion, MinVersion)
	case peer.NodeID == "" || peer.Incarnation == "":
		return refuse(CodeOtherNode, "whoever answered names no node")
	case self.ExpectID != "" && self.ExpectID != peer.NodeID:
		return refuse(CodeOtherNode, "node %s was expected at its address: correct the address", self.ExpectID)
	case self.ExpectIncarnation != "" && self.ExpectIncarnation != peer.Incarnation:
		return refuse(CodeOtherIncarnation, "it has the data folder %s, not %s: remove it from the cluster and join it anew",
			peer.Incarnation, self.ExpectIncarnation)
	}
	peer.Purpose = self.Purpose
	return checkCluster(self, peer)
}

// checkCluster checks what is the same at both ends.
func checkCluster(self, peer Hello) *Refused {
	refuse := refuser(peer)
	switch {
	case self.ClusterID != "" && peer.ClusterID != "" && self.ClusterID != peer.ClusterID:
		return refuse(CodeOtherCluster, "it belongs to cluster %s, this end to %s", peer.ClusterID, self.ClusterID)
	case self.NodeID != "" && self.NodeID == peer.NodeID && self.Incarnation != peer.Incarnation:
		return refuse(CodeOtherNode, "two nodes are called %s: give one another id", self.NodeID)
	case peer.Purpose != PurposeRaft:
		return nil
	case self.ClusterID == "" || peer.ClusterID == "":
		return refuse(CodeNotMember, "a node takes part in Raft only once it has a cluster")
	case peer.NodeID == "" || peer.Incarnation == "" || peer.Addr == "":
		return refuse(CodeOtherNode, "a Raft stream needs a node id, an incarnation and an address")
	case self.NodeID == peer.NodeID:
		return refuse(CodeOtherNode, "a node needs no Raft stream to itself")
	}
	return nil
}

func refuser(peer Hello) func(Code, string, ...any) *Refused {
	return func(code Code, format string, args ...any) *Refused {
		return &Refused{Code: code, Message: fmt.Sprintf(format, args...), Peer: peer}
	}
}
