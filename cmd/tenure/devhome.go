package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"example.com/tenure/node"
)

// A devPlan is what a dev cluster consists of. It is kept with its data.
type devPlan struct {
	Nodes  int      `json:"nodes"`
	Listen string   `json:"listen"`
	Addrs  []string `json:"addrs"` // of the nodes, in order
}

// devPlanFile is where a data folder keeps the plan.
const devPlanFile = "dev.json"

// A devHome is the place of a dev cluster: its folder and its ports, which are
// open from the beginning, so that a busy one is noticed before anything is
// done.
type devHome struct {
	plan      devPlan
	dir       string
	temporary bool
	network   *openPorts
}

// openDevHome makes the place of a cluster as it was asked for or, where the
// folder has one already, takes that. What was asked for is then refused if it
// is something else; given reports which flags the user wrote.
func openDevHome(dir string, asked devPlan, given func(flag string) bool) (*devHome, error) {
	h := &devHome{plan: asked, dir: dir, network: &openPorts{Network: node.TCP(), listeners: map[string]net.Listener{}}}
	found := false
	if dir != "" {
		var err error
		if found, err = h.read(asked, given); err != nil {
			return nil, err
		}
	}
	if err := h.listen(); err != nil {
		return nil, errors.Join(err, h.close())
	}
	if found {
		return h, nil
	}
	if err := h.make(); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// read looks for the plan in the folder.
func (h *devHome) read(asked devPlan, given func(flag string) bool) (found bool, err error) {
	path := filepath.Join(h.dir, devPlanFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var kept devPlan
	if err := json.Unmarshal(raw, &kept); err != nil || kept.Nodes < 1 || kept.Nodes != len(kept.Addrs) {
		return false, fmt.Errorf("%s can't be read: restore it, or start with another folder", path)
	}
	if given("nodes") && asked.Nodes != kept.Nodes {
		return false, invalid("nodes", strconv.Itoa(asked.Nodes), fmt.Sprintf("%d, with which %s was made, or left out", kept.Nodes, h.dir))
	}
	if given("listen") && asked.Listen != kept.Listen {
		return false, invalid("listen", strconv.Quote(asked.Listen), fmt.Sprintf("%s, with which %s was made, or left out", kept.Listen, h.dir))
	}
	h.plan = kept
	return true, nil
}

// listen opens the ports.
func (h *devHome) listen() error {
	addrs := h.plan.Addrs
	if addrs == nil {
		addrs = consecutive(h.plan.Listen, h.plan.Nodes)
	}
	h.plan.Addrs = slices.Clone(addrs)
	for i, addr := range addrs {
		opened, err := h.network.open(addr)
		if err != nil {
			return fmt.Errorf("%w: stop what uses the port, or choose another with --listen", err)
		}
		h.plan.Addrs[i] = opened
	}
	return nil
}

// consecutive returns the addresses of n nodes from the first one's on.
func consecutive(first string, n int) []string {
	host, port, _ := cutLast(first, ":")
	number, err := strconv.Atoi(port)
	if err != nil || number == 0 {
		return slices.Repeat([]string{first}, n)
	}
	addrs := make([]string, n)
	for i := range addrs {
		addrs[i] = fmt.Sprintf("%s:%d", host, number+i)
	}
	return addrs
}

// make makes the folder, with the plan if it stays.
func (h *devHome) make() (err error) {
	if h.dir == "" {
		h.temporary = true
		h.dir, err = os.MkdirTemp("", "tenure-dev-")
		return err
	}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return err
	}
	raw, err := json.Marshal(h.plan)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(h.dir, devPlanFile), append(raw, '\n'), 0o600)
}

// close frees the ports that no node took, and removes what is temporary.
func (h *devHome) close() error {
	h.network.close()
	if h.temporary {
		return os.RemoveAll(h.dir)
	}
	return nil
}
