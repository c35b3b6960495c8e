package virtual

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/tenure"
	"example.com/tenure/jepsen-lite/plan"
	"example.com/tenure/node"
)

// Bounds of a change of the members.
const (
	changeTakes = time.Second      // one try of it
	changeEnds  = 90 * time.Second // all tries: other faults may keep the cluster from it for long
	changePause = 100 * time.Millisecond
)

// changeMembers removes nodes from the cluster, each while a majority of the
// others is up. They join it again with empty disks.
func (a *arena) changeMembers(_ *plan.Fault, names []string) func() {
	if !a.mayChange() {
		a.note("nobody was removed: another change of the members is under way")
		return nil
	}
	for _, name := range names {
		s := a.nodes[name]
		s.excuse()
		if a.mayLeave(name) {
			a.replaceDisk(s)
		} else {
			a.note(name + " was not removed: too many others are down")
		}
	}
	return func() {
		for _, name := range names {
			a.restart(a.nodes[name])
			a.awaitMember(a.nodes[name])
		}
		<-a.changing
	}
}

// mayChange reports whether nobody else changes the members, and keeps others
// from it. Two changes could wait for each other: who joins does so by another
// node, which must be up and a member.
func (a *arena) mayChange() bool {
	select {
	case a.changing <- struct{}{}:
		return true
	default:
		return false
	}
}

// mayLeave reports whether a majority of all nodes is up without this one.
func (a *arena) mayLeave(name string) bool {
	up := 0
	for other, s := range a.nodes {
		if n, run := s.running(); other != name && n != nil && s.stands(run) {
			up++
		}
	}
	return up > a.plan.Nodes/2
}

// replaceDisk removes a node from the cluster and gives it an empty disk. The
// caller keeps it down, and lets it join anew with restart.
func (a *arena) replaceDisk(s *server) {
	if !a.untilDone("remove "+s.name, func(ctx context.Context, n *node.Node) error {
		if err := n.Remove(ctx, s.name); err != nil && !errors.Is(err, tenure.ErrInvalid) { // no member any more
			return err
		}
		return a.lists(ctx, n, s.name, false)
	}, s.name) {
		return
	}
	s.turn <- struct{}{}
	s.crash()
	s.insertDisk()
	s.mu.Lock()
	s.joins = true
	s.mu.Unlock()
	<-s.turn
}

// awaitMember waits until a node is a voter, and fails the run if it does not
// become one.
func (a *arena) awaitMember(s *server) {
	a.untilDone(s.name+" joins", func(ctx context.Context, n *node.Node) error { return a.lists(ctx, n, s.name, true) }, "")
}

// untilDone asks one running node after the other, but for one, until a call
// succeeds, and reports whether one did. It fails the run if none does in time.
func (a *arena) untilDone(what string, call func(context.Context, *node.Node) error, but string) bool {
	err := fmt.Errorf("no node is up")
	for until := a.now() + changeEnds; a.now() < until && a.ctx.Err() == nil; a.sleep(changePause) {
		for name, s := range a.nodes {
			n, _ := s.running()
			if n == nil || name == but {
				continue
			}
			ctx, cancel := context.WithTimeout(a.ctx, changeTakes)
			err = call(ctx, n)
			cancel()
			if err == nil {
				return true
			}
		}
	}
	if a.ctx.Err() == nil {
		a.fail("%s: not done within %v: %w", what, changeEnds, err)
	}
	return false
}

// lists returns an error unless the cluster has the node as a voter, or does
// not have it at all, as is wanted.
func (a *arena) lists(ctx context.Context, n *node.Node, name string, wanted bool) error {
	members, err := n.Members(ctx)
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.ID == name && !wanted || m.ID == name && m.Voter {
			if wanted {
				return nil
			}
			return fmt.Errorf("%s is a member", name)
		}
	}
	if wanted {
		return fmt.Errorf("%s is no voter", name)
	}
	return nil
}

// anyMember returns the address of a node that may let another one in: the
// leader, or else one that is up.
func (a *arena) anyMember(but string) string {
	if leader := a.leader(); leader != "" && leader != but {
		return addr(leader)
	}
	first := ""
	for i := range a.plan.Nodes {
		name := plan.NodeName(i)
		if name == but {
			continue
		}
		if n, _ := a.nodes[name].running(); n != nil {
			return addr(name)
		}
		first = name
	}
	return addr(first)
}
