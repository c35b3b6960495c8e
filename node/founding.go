package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"example.com/tenure/node/internal/wire"
)

// A cluster is founded once, from a list that is the same on all its nodes: the
// node with the smallest id asks every other whether it is empty and has the
// same list, and only if all say so decides the cluster's id. From then on the
// decision is on its disk, and it tells the others until all know. Nothing
// depends on who starts first, and a crash at any point is made good by
// starting again.

// foundingPoll is how often a node tries to found or join its cluster.
const foundingPoll = 200 * time.Millisecond

// enter brings a node without a cluster into one.
func (n *Node) enter() {
	if n.cfg.Join != "" {
		n.seekAdmission()
		return
	}
	if n.cfg.ID != n.founder() {
		n.waiting.set("this node waits to be told of the founding by %s, which needs all %d listed nodes to be up", n.founder(), len(n.cfg.Peers))
		return // told does the rest
	}
	for n.ctx.Err() == nil {
		founders, err := n.survey()
		if err == nil {
			n.found(founders)
			return
		}
		n.waiting.set("the cluster is not founded: %v", err)
		pause(n.ctx, foundingPoll)
	}
}

// founder is the id of the node that decides.
func (n *Node) founder() string {
	ids := make([]string, len(n.cfg.Peers))
	for i, p := range n.cfg.Peers {
		ids[i] = p.ID
	}
	return slices.Min(ids)
}

// peersHash is the same on nodes that have the same list.
func (n *Node) peersHash() string {
	list := make([]string, len(n.cfg.Peers))
	for i, p := range n.cfg.Peers {
		list[i] = p.ID + "=" + p.Addr
	}
	slices.Sort(list)
	sum := sha256.Sum256([]byte(strings.Join(list, "\n")))
	return hex.EncodeToString(sum[:])
}

// introduction is what this node says of itself to one that wants to found the
// cluster or to let it in.
func (n *Node) introduction() *wire.Identity {
	i := n.identity()
	return &wire.Identity{ID: i.ID, Incarnation: i.Incarnation, Addr: n.Addr(), ClusterID: i.ClusterID,
		PeersHash: n.peersHash(), Empty: i.ClusterID == ""}
}

// survey asks all listed nodes, and returns them if every one of them is empty
// and has the same list. The error names those that are missing or differ.
func (n *Node) survey() ([]founder, error) {
	ctx, cancel := context.WithTimeout(n.ctx, surveyTimeout)
	defer cancel()
	answers := make([]chan error, len(n.cfg.Peers))
	founders := make([]founder, len(n.cfg.Peers))
	for i, p := range n.cfg.Peers {
		answers[i] = make(chan error, 1)
		founders[i] = founder{ID: p.ID, Incarnation: n.identity().Incarnation, Addr: p.Addr}
		if p.ID == n.cfg.ID {
			answers[i] <- nil
			continue
		}
		asking := n.background.start(func() {
			who, err := n.introduce(ctx, p)
			founders[i].Incarnation = who.Incarnation
			answers[i] <- err
		})
		if !asking {
			answers[i] <- ErrClosed
		}
	}
	var missing []string
	for _, answer := range answers {
		if err := <-answer; err != nil {
			missing = append(missing, err.Error())
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(missing, "; "))
	}
	return founders, nil
}

const surveyTimeout = 2 * time.Second

// introduce asks one listed node who it is, and what stands against founding
// with it.
func (n *Node) introduce(ctx context.Context, p Peer) (*wire.Identity, error) {
	who := &wire.Identity{}
	conn, _, err := n.links.get(ctx, p.Addr)
	if err == nil {
		err = call(ctx, conn, wire.OpIdentify, 0, n.introduction(), who)
	}
	switch {
	case err != nil:
		return who, fmt.Errorf("%s at %s does not answer: %s", p.ID, p.Addr, reasonOf(err))
	case who.ID != p.ID:
		return who, fmt.Errorf("at %s is node %s, where %s is listed: correct the list", p.Addr, who.ID, p.ID)
	case who.ClusterID != "":
		return who, fmt.Errorf("%s belongs to cluster %s already: if this node lost its data, remove it there and let it join anew; "+
			"if %s was used before, empty its data folder", p.ID, who.ClusterID, p.ID)
	case who.PeersHash != n.peersHash():
		return who, fmt.Errorf("%s lists other peers than this node: give all nodes the same list", p.ID)
	}
	return who, nil
}

// found decides the cluster, on the disk before anyone hears of it.
func (n *Node) found(founders []founder) {
	err := n.changeIdentity(func(i *identity) error {
		if i.ClusterID == "" {
			i.ClusterID = newToken()
			i.LargestTTL = n.cfg.LargestTTL.Milliseconds()
			i.Founders = founders
			i.Addr = n.Addr()
		}
		return nil
	})
	if err == nil {
		n.log.Info("founded the cluster", "cluster", n.identity().ClusterID, "nodes", len(founders))
		err = n.participate(n.ctx)
	}
	if err != nil {
		n.fail(fmt.Errorf("founding the cluster: %w", err))
	}
}

// tellFounders goes on until every node of the founding knows of it.
func (n *Node) tellFounders() {
	i := n.identity()
	founding := &wire.Founding{ClusterID: i.ClusterID, LargestTTL: i.largestTTL()}
	for _, f := range i.Founders {
		founding.Founders = append(founding.Founders, wire.Founder{ID: f.ID, Incarnation: f.Incarnation, Addr: f.Addr})
	}
	open := slices.DeleteFunc(slices.Clone(i.Founders), func(f founder) bool { return f.ID == i.ID })
	for len(open) > 0 && n.ctx.Err() == nil {
		open = slices.DeleteFunc(open, func(f founder) bool {
			err := n.tell(f.Addr, founding)
			if err != nil {
				n.log.Warn("a node of the founding does not know of it yet", "node", f.ID, "addr", f.Addr, "error", err)
			}
			return err == nil || !n.isMember(f.serverID())
		})
		if len(open) > 0 {
			pause(n.ctx, foundingPoll)
		}
	}
	if n.ctx.Err() == nil {
		_ = n.changeIdentity(func(i *identity) error { i.Told = true; return nil })
	}
}

// tell tells the node at addr to which cluster it belongs.
func (n *Node) tell(addr string, founding *wire.Founding) error {
	ctx, cancel := context.WithTimeout(n.ctx, surveyTimeout)
	defer cancel()
	conn, _, err := n.links.get(ctx, addr)
	if err != nil {
		return err
	}
	return call(ctx, conn, wire.OpFound, 0, founding, &wire.Empty{})
}

// told is how a node hears that it belongs to a cluster now: from the founder,
// or from the leader that lets it in. It is written down before it is answered.
func (n *Node) told(f *wire.Founding) error {
	i := n.identity()
	if i.ClusterID == f.ClusterID {
		return n.participate(n.ctx) // which an earlier message began
	}
	listed := slices.ContainsFunc(f.Founders, func(o wire.Founder) bool { return o.ID == i.ID && o.Incarnation == i.Incarnation })
	if !listed {
		return fmt.Errorf("the data folder of %s is %s, which the founding does not name: it was emptied since; remove %s and let it join", i.ID, i.Incarnation, i.ID)
	}
	err := n.changeIdentity(func(i *identity) error {
		if i.ClusterID != "" && i.ClusterID != f.ClusterID {
			return fmt.Errorf("%s belongs to cluster %s", i.ID, i.ClusterID)
		}
		i.ClusterID, i.LargestTTL, i.Addr = f.ClusterID, f.LargestTTL.Milliseconds(), n.Addr()
		return nil
	})
	if err != nil {
		return err
	}
	n.log.Info("joined the cluster", "cluster", f.ClusterID)
	return n.participate(n.ctx)
}

// configuration is Raft's first, on the node that decided the founding.
func configuration(founders []founder) raft.Configuration {
	var c raft.Configuration
	for _, f := range founders {
		c.Servers = append(c.Servers, raft.Server{Suffrage: raft.Voter, ID: f.serverID(), Address: raft.ServerAddress(f.Addr)})
	}
	return c
}
