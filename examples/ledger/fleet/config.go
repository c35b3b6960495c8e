package fleet

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"example.com/tenure"
	"example.com/tenure/examples/ledger/replica"
)

// A Config describes a fleet. All fields but Env are required.
type Config struct {
	Command []string       // that runs a replica, without the flags
	Env     []string       // of the replicas, in addition to this process's
	Dir     string         // for data, ledgers and logs; they are kept
	Peers   []replica.Peer // the replicas
	Tenants int
	TTL     time.Duration
}

// Local lists n replicas r1, r2, ... on consecutive ports, from the HOST:PORT of
// the first one's node and API on.
func Local(n int, firstNode, firstHTTP string) ([]replica.Peer, error) {
	if n < 1 || n > 9 {
		return nil, &tenure.InvalidError{Field: "replicas", Value: strconv.Itoa(n), Bound: "from 1 to 9"}
	}
	peers := make([]replica.Peer, n)
	for i := range peers {
		nodeAddr, err := addressAfter("listen", firstNode, i)
		if err != nil {
			return nil, err
		}
		httpAddr, err := addressAfter("http", firstHTTP, i)
		if err != nil {
			return nil, err
		}
		peers[i] = replica.Peer{ID: fmt.Sprintf("r%d", i+1), Node: nodeAddr, HTTP: httpAddr}
	}
	return peers, nil
}

func addressAfter(field, addr string, n int) (string, error) {
	host, text, err := net.SplitHostPort(addr)
	port, e := strconv.Atoi(text)
	if err != nil || e != nil || port < 1 || port+n > 65535 {
		return "", &tenure.InvalidError{Field: field, Value: strconv.Quote(addr), Bound: "HOST:PORT with a port that leaves room for all replicas"}
	}
	return net.JoinHostPort(host, strconv.Itoa(port+n)), nil
}

// FreeAddress returns a loopback address that nobody listens on. Its port is
// below those that systems give to outgoing connections: such a connection could
// have it by the time a killed replica comes back.
func FreeAddress() (string, error) {
	const lowest, highest, tries = 15000, 30000, 100
	var err error
	for range tries {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(lowest+rand.IntN(highest-lowest)))
		var l net.Listener
		if l, err = net.Listen("tcp", addr); err == nil {
			return addr, l.Close()
		}
	}
	return "", fmt.Errorf("find a free port: %w", err)
}
