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
		peers[i] = replica.Peer{ID: replicaID(i), Node: nodeAddr, HTTP: httpAddr}
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

// FreePeers lists n replicas r1, r2, ... at loopback addresses that nobody listens
// on. Their ports are below those that systems give to outgoing connections: such
// a connection could have one by the time a killed replica comes back.
func FreePeers(n int) ([]replica.Peer, error) {
	var taken []net.Listener
	defer func() {
		for _, l := range taken {
			l.Close()
		}
	}()
	peers := make([]replica.Peer, n)
	for i := range peers {
		peers[i].ID = replicaID(i)
		for _, addr := range []*string{&peers[i].Node, &peers[i].HTTP} {
			l, err := listenAnywhere()
			if err != nil {
				return nil, fmt.Errorf("find a free port: %w", err)
			}
			taken = append(taken, l)
			*addr = l.Addr().String()
		}
	}
	return peers, nil
}

func listenAnywhere() (l net.Listener, err error) {
	const lowest, highest, tries = 10000, 32000, 100
	for range tries {
		port := lowest + rand.IntN(highest-lowest)
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return l, nil
		}
	}
	return nil, err
}

func replicaID(i int) string { return fmt.Sprintf("r%d", i+1) }
