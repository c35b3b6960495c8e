package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/tenure/examples/ledger/replica"
	jepsenlite "example.com/tenure/jepsen-lite"
)

// The goal: under kills, pauses, partitions and slow links each tenant has one
// owner at a time, and what was acknowledged is in its ledger for good.
// JEPSENLITE_DURATION=5m makes it longer.
func TestUnderFaults(t *testing.T) {
	const tenants, ttl = 8, 2 * time.Second
	jepsenlite.Run(t, jepsenlite.Config{
		Fleet: newLedgerFleet(t, tenants, ttl), Ports: 2, // the node's and the API's
		Keys: replica.Tenants(tenants), TTL: ttl, Duration: 10 * time.Second,
	})
}

// A ledgerFleet is all that the harness has to know of ledgers.
type ledgerFleet struct{ jepsenlite.Processes }

func newLedgerFleet(t *testing.T, tenants int, ttl time.Duration) *ledgerFleet {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &ledgerFleet{jepsenlite.Processes{Command: func(r jepsenlite.Replica) *exec.Cmd {
		cmd := exec.Command(exe, "--id", r.Name, "--peers", peerList(r, false), "--dial", peerList(r, true),
			"--data", r.Dir, "--ledgers", r.Shared, "--tenants", strconv.Itoa(tenants), "--ttl", ttl.String())
		cmd.Env = append(os.Environ(), asReplica+"=1")
		return cmd
	}}}
}

// peerList lists the replicas at their public addresses, or where r has to dial
// them.
func peerList(r jepsenlite.Replica, dial bool) string {
	var peers []replica.Peer
	for _, p := range r.Peers {
		at := p.Listen
		if dial {
			at = p.Dial
		}
		peers = append(peers, replica.Peer{ID: p.Name, Node: at[0], HTTP: at[1]})
	}
	return replica.FormatPeers(peers)
}

// Write appends an entry whose id is the value. Its epoch is that of the tenure
// that wrote it. The replica that acknowledges it may be a later one's, if the
// first has died over it, and is not told.
func (f *ledgerFleet) Write(ctx context.Context, r jepsenlite.Replica, key string, value uint64) (jepsenlite.Ack, error) {
	var ack replica.Acknowledgement
	id := strconv.FormatUint(value, 10)
	err := f.call(ctx, http.MethodPost, r, key, replica.Append{ID: id, Text: "entry " + id}, &ack)
	return jepsenlite.Ack{Epoch: ack.Epoch}, err
}

// Read reads the whole ledger.
func (f *ledgerFleet) Read(ctx context.Context, r jepsenlite.Replica, key string) (found jepsenlite.Values, err error) {
	var reading replica.Reading
	if err := f.call(ctx, http.MethodGet, r, key, nil, &reading); err != nil {
		return found, err
	}
	found.Ack = jepsenlite.Ack{Epoch: reading.Epoch, Owner: reading.Replica}
	for _, entry := range reading.Entries {
		value, err := strconv.ParseUint(entry.ID, 10, 64)
		if err != nil {
			return found, err
		}
		found.Values = append(found.Values, value)
	}
	return found, nil
}

func (f *ledgerFleet) call(ctx context.Context, method string, r jepsenlite.Replica, tenant string, body, answer any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://%s/tenants/%s/entries", r.Listen[1], tenant), bytes.NewReader(content))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if op := new(net.OpError); errors.As(err, &op) && op.Op == "dial" {
		return fmt.Errorf("%w, the request was not sent: %w", jepsenlite.ErrRefused, err)
	} else if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(text)))
	}
	return json.Unmarshal(text, answer)
}
