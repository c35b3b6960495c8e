package fleet

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"example.com/tenure/jepsen-lite/relay"
)

// The folders of a fleet, in that of its run.
const (
	dataFolder   = "data"   // one for each replica
	sharedFolder = "shared" // for all of them
	logFolder    = "log"
)

// makeReplicas lays out a fleet: folders, ports, and relays between them.
func makeReplicas(c Config, relays *relay.Net) ([]Replica, error) {
	names := replicaNames(c.Replicas)
	replicas := make([]Replica, len(names))
	addrs, err := freeAddresses(c.Replicas * c.Ports)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		r := &replicas[i]
		*r = Replica{
			Name: name, Dir: filepath.Join(c.Dir, dataFolder, name), Shared: filepath.Join(c.Dir, sharedFolder),
			Log: filepath.Join(c.Dir, logFolder, name+".log"), Listen: addrs[i*c.Ports : (i+1)*c.Ports : (i+1)*c.Ports],
		}
		for _, dir := range []string{r.Dir, r.Shared, filepath.Dir(r.Log)} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return nil, fmt.Errorf("make a folder of %s: %w", name, err)
			}
		}
		relays.Place(name, r.Listen...)
	}
	return replicas, introduce(replicas, relays)
}

// introduce tells each replica how to reach the others.
func introduce(replicas []Replica, relays *relay.Net) error {
	for i := range replicas {
		r := &replicas[i]
		for _, other := range replicas {
			peer := Peer{Name: other.Name, Listen: other.Listen, Dial: other.Listen}
			if other.Name != r.Name {
				peer.Dial = make([]string, len(other.Listen))
				for port := range other.Listen {
					addr, err := relays.Address(r.Name, other.Name, port)
					if err != nil {
						return err
					}
					peer.Dial[port] = addr
				}
			}
			r.Peers = append(r.Peers, peer)
		}
	}
	return nil
}

// freeAddresses returns n loopback addresses that nobody listens on. Their ports
// are below those that systems give to outgoing connections: such a connection
// could have one by the time a killed replica comes back.
func freeAddresses(n int) ([]string, error) {
	addrs := make([]string, 0, n)
	for range n {
		l, err := listenLow()
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close() // only when all are found, so that they differ
		addrs = append(addrs, l.Addr().String())
	}
	return addrs, nil
}

func listenLow() (l net.Listener, err error) {
	const lowest, highest, tries = 10000, 32000, 100
	for range tries {
		port := lowest + rand.IntN(highest-lowest)
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return l, nil
		}
	}
	return nil, err
}
