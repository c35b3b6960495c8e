package holder_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/tenure"
	"example.com/tenure/holder"
	"example.com/tenure/holder/holdertest"
)

// Goal: a malformed configuration is refused with the field, and starts
// nothing (a goroutine would be found at the end).
func TestInvalidConfig(t *testing.T) {
	store := holdertest.NewStore(nil)
	for name, c := range map[string]struct {
		cfg   holder.Config
		field string
	}{
		"no store":            {holder.Config{Replica: "r"}, "store"},
		"no replica":          {holder.Config{Store: store}, "replica"},
		"long replica":        {holder.Config{Store: store, Replica: strings.Repeat("r", holder.MaxReplicaBytes+1)}, "replica"},
		"replica not UTF-8":   {holder.Config{Store: store, Replica: "\xff"}, "replica"},
		"control character":   {holder.Config{Store: store, Replica: "r\n"}, "replica"},
		"negative ttl":        {holder.Config{Store: store, Replica: "r", TTL: -time.Second}, "ttl"},
		"short ttl":           {holder.Config{Store: store, Replica: "r", TTL: tenure.MinTTL - time.Millisecond}, "ttl"},
		"long ttl":            {holder.Config{Store: store, Replica: "r", TTL: tenure.MaxTTL + time.Millisecond}, "ttl"},
		"ttl of microseconds": {holder.Config{Store: store, Replica: "r", TTL: time.Second + time.Microsecond}, "ttl"},
		"margin of a ttl":     {holder.Config{Store: store, Replica: "r", TTL: time.Second, Margin: time.Second}, "margin"},
		"negative margin":     {holder.Config{Store: store, Replica: "r", Margin: -1}, "margin"},
	} {
		h, err := holder.New(c.cfg)
		var invalid *tenure.InvalidError
		if h != nil || !errors.As(err, &invalid) || invalid.Field != c.field || invalid.Bound == "" {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
}

// Goal: the defaults are those that the documentation names.
func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		cfg         holder.Config
		ttl, usable time.Duration
	}{
		{holder.Config{}, 10 * time.Second, 9 * time.Second},
		{holder.Config{TTL: time.Minute}, time.Minute, 54 * time.Second},
		{holder.Config{Margin: holder.NoMargin}, 10 * time.Second, 10 * time.Second},
		{holder.Config{Margin: 4 * time.Second}, 10 * time.Second, 6 * time.Second},
	} {
		inBubble(t, func(t *testing.T, b *bubble) {
			c.cfg.Replica = strings.Repeat("r", holder.MaxReplicaBytes)
			h := b.make(c.cfg)
			if err := tenure.ValidateOwner(h.Owner()); err != nil {
				t.Error(err)
			}
			lease, err := h.Acquire(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if left := lease.Remaining(); lease.TTL() != c.ttl || left != c.usable {
				t.Errorf("%+v: ttl %v, %v remain", c.cfg, lease.TTL(), left)
			}
		})
	}
}

// Goal: a holder without a clock has one, and its gate is open.
func TestDefaultClock(t *testing.T) {
	h, err := holder.New(holder.Config{Store: holdertest.NewStore(nil), Replica: "r", TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := h.Acquire(t.Context(), key)
	if err != nil || lease.AssertHeld() != nil {
		t.Errorf("got %v", err)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Goal: two holders of one replica are two owners.
func TestIncarnations(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bubble) {
		again := b.another("replica-1")
		if again.Owner() == b.Owner() {
			t.Error("the same owner twice")
		}
		b.acquire(key)
		if _, err := again.Acquire(t.Context(), key); !errors.Is(err, tenure.ErrHeld) {
			t.Errorf("got %v", err)
		}
	})
}
