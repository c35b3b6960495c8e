package holder

import (
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"

	"example.com/tenure"
)

// DefaultTTL is the TTL of a holder whose [Config] names none.
const DefaultTTL = 10 * time.Second

// NoMargin, as the Margin of a [Config], is a margin of nothing: the gate
// closes at the instant at which the store would admit somebody else, if both
// clocks ran at exactly the same rate. Only a test has such clocks.
const NoMargin time.Duration = math.MinInt64

// A Config says how a holder holds. Store and Replica are required.
type Config struct {
	// Store replicates the tenures: an embedded node, or a client that
	// node.Dial returned. The holder never closes it, and has to be closed
	// before it.
	Store tenure.Store

	// Replica names the service replica, in a way that means something to
	// whoever reads a listing. Two processes may use the same name: the owner
	// is this and a random incarnation, so a restarted process is another
	// owner. It is UTF-8 without control characters, 1 to MaxReplicaBytes
	// bytes.
	Replica string

	// TTL is asked for in every acquire and renewal: whole milliseconds from
	// tenure.MinTTL to the largest that the cluster allows. A longer one
	// survives longer outages of the store, and makes others wait longer after
	// a crash. 0 is DefaultTTL.
	TTL time.Duration

	// Margin is how long before the store would admit somebody else the holder
	// stops: from 0 to less than TTL. Over one TTL the holder's clock may run
	// slower than a node's by this much, and no more. 0 is a tenth of TTL;
	// NoMargin is none.
	Margin time.Duration

	// Clock is where all time comes from. It must not stand still while others
	// may be granted a key: see BootClock, which nil stands for. Tests in
	// virtual time use tenure.MonotonicClock.
	Clock tenure.Clock

	// Logger hears of lost, expired and resumed leases and of a store that
	// doesn't answer. nil is silence.
	Logger hclog.Logger
}

// incarnationBytes is the length of the random part of an owner: 16 base32
// digits, 80 bits.
const incarnationBytes = 16

// MaxReplicaBytes is the greatest length of a [Config]'s Replica: with a slash
// and the incarnation it makes an owner.
const MaxReplicaBytes = tenure.MaxOwnerBytes - 1 - incarnationBytes

// validate returns the configuration with its defaults filled in, or an
// [*tenure.InvalidError].
func (c Config) validate() (Config, error) {
	if c.Store == nil {
		return c, &tenure.InvalidError{Field: "store", Value: "nil", Bound: "a node or a client of one"}
	}
	if err := validateReplica(c.Replica); err != nil {
		return c, err
	}
	if c.TTL == 0 {
		c.TTL = DefaultTTL
	}
	if err := tenure.ValidateTTL(c.TTL, tenure.MaxTTL); err != nil {
		return c, err
	}
	switch c.Margin {
	case 0:
		c.Margin = c.TTL / 10
	case NoMargin:
		c.Margin = 0
	}
	if err := tenure.ValidateMargin(c.Margin, c.TTL); err != nil {
		return c, err
	}
	if c.Clock == nil {
		c.Clock = BootClock()
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	return c, nil
}

func validateReplica(replica string) error {
	if len(replica) <= MaxReplicaBytes && tenure.ValidateOwner(replica) == nil {
		return nil
	}
	value := strconv.Quote(replica)
	if len(replica) > MaxReplicaBytes || !utf8.ValidString(replica) {
		value = fmt.Sprintf("%d bytes, %.32q", len(replica), replica)
	}
	return &tenure.InvalidError{
		Field: "replica",
		Value: value,
		Bound: fmt.Sprintf("1 to %d bytes of UTF-8 without control characters", MaxReplicaBytes),
	}
}
