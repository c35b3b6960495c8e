package replica

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure/examples/ledger/store"
	"example.com/tenure/holder"
	"example.com/tenure/node"
)

// A Replica is a running process of the fleet.
type Replica struct {
	cfg       Config
	log       hclog.Logger
	tenants   []string
	placement placement
	ledgers   *store.Store
	node      *node.Node
	holder    *holder.Holder
	server    *http.Server
	peers     *http.Client

	// staying ends when the replica begins to leave: it wants no tenant from
	// then on, and gives those that it has to whoever asks. ctx ends when it
	// stops serving.
	staying context.Context
	depart  context.CancelFunc
	ctx     context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup

	table  table
	served chan struct{} // closed when the API has stopped
	counts counts
}

// counts are what the replica has done since it started.
type counts struct {
	acknowledged atomic.Int64 // entries
	takeovers    atomic.Int64 // ledgers opened
	handovers    atomic.Int64 // tenants given to another replica that asked
	forwarded    atomic.Int64 // requests passed on
	refused      atomic.Int64 // requests answered as unavailable
}

// Open starts a replica. It returns once the API and the node listen; the
// replica takes tenants over as soon as the lease cluster is there, which for a
// new fleet means all of its replicas. Close stops it.
func Open(ctx context.Context, cfg Config) (*Replica, error) {
	cfg, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", cfg.HTTP)
	if err != nil {
		return nil, fmt.Errorf("listen for the API: %w", err)
	}
	r := newReplica(cfg)
	if err := r.join(ctx); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	r.start(listener)
	return r, nil
}

func newReplica(cfg Config) *Replica {
	r := &Replica{cfg: cfg, log: cfg.Logger, tenants: Tenants(cfg.Tenants), ledgers: store.New(cfg.Ledgers), served: make(chan struct{})}
	ids := make([]string, len(cfg.Peers))
	for i, p := range cfg.Peers {
		ids[i] = p.ID
	}
	r.placement = newPlacement(r.tenants, ids)
	r.table = table{pursuits: make(map[string]*pursuit), tenancies: make(map[string]*tenancy)}
	r.peers = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DialContext: cfg.network().dialHTTP}}
	r.server = &http.Server{Handler: r.handler(), ReadHeaderTimeout: 10 * time.Second}
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.staying, r.depart = context.WithCancel(r.ctx)
	return r
}

// join starts the node and the holder, or nothing.
func (r *Replica) join(ctx context.Context) error {
	n, err := node.Open(ctx, r.cfg.node())
	if err != nil {
		return fmt.Errorf("start the node: %w", err)
	}
	h, err := holder.New(holder.Config{Store: n, Replica: r.cfg.ID, TTL: r.cfg.TTL, Margin: r.cfg.Margin, Logger: r.log.Named("holder")})
	if err != nil {
		return errors.Join(fmt.Errorf("start the holder: %w", err), n.Close())
	}
	r.node, r.holder = n, h
	return nil
}

func (r *Replica) start(listener net.Listener) {
	go func() {
		defer close(r.served)
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.log.Error("the API stopped", "error", err)
		}
	}()
	r.work.Go(r.announce)
	r.work.Go(r.balance)
	r.log.Info("replica started", "owner", r.holder.Owner(), "node", r.node.Addr(), "http", listener.Addr())
}

// Done is closed when the node has failed or was closed; Err says why. A
// replica without its node can do nothing but be closed.
func (r *Replica) Done() <-chan struct{} { return r.node.Done() }

// Err returns why the node stopped, or nil.
func (r *Replica) Err() error { return r.node.Err() }

// Close stops the replica and hands its tenants over: nobody has to wait for
// their TTLs, if the lease cluster can be reached before ctx ends. Only a ledger
// whose disk hangs is left behind.
func (r *Replica) Close(ctx context.Context) error {
	r.leave(ctx)
	r.stop()
	err := r.holder.Close(ctx)
	if !await(ctx, &r.work) {
		err = errors.Join(err, errors.New("a ledger is not closed: its disk does not answer"))
	}
	if e := r.server.Shutdown(ctx); e != nil {
		err = errors.Join(err, e, r.server.Close())
	}
	<-r.served
	r.peers.CloseIdleConnections()
	return errors.Join(err, r.node.Close())
}
