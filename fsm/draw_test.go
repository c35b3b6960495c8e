package fsm

import (
	"time"

	"pgregory.net/rapid"
)

const largestDrawn = time.Minute

var keysDrawn = []string{"", "a", "b", "tenant-1", "tenant-2", "tenant-ü", "bad\n"}

// command draws a command: mostly of a known key, and often one that fits what
// stands.
func (w *world) command(t *rapid.T) Command {
	c := Command{
		Kind:      rapid.SampledFrom([]Kind{Acquire, Acquire, Acquire, Renew, Release, Release, Forget, Cluster}).Draw(t, "kind"),
		Key:       rapid.SampledFrom(keysDrawn).Draw(t, "key"),
		Owner:     rapid.SampledFrom([]string{"o1", "o2", "o3", "\x00"}).Draw(t, "owner"),
		RequestID: rapid.SampledFrom([]string{"r1", "r2", "r3", "a longer request id", ""}).Draw(t, "id"),
	}
	if r := w.model.records[c.Key]; r != nil && rapid.IntRange(0, 3).Draw(t, "fits") > 0 {
		c.Owner, c.Epoch = r.owner, r.epoch
	} else {
		c.Epoch = rapid.Uint64Range(0, 9).Draw(t, "epoch")
	}
	switch c.Kind {
	case Acquire:
		c.TTL, c.Evidence, c.Epoch = drawTTL(t), w.evidence(t, c.Key), 0
	case Renew:
		c.TTL, c.RequestID = drawTTL(t), ""
	case Release:
		if rapid.Bool().Draw(t, "by id") && c.RequestID != "" {
			c.Epoch = 0
		} else {
			c.RequestID = ""
		}
	case Forget:
		c.RequestID = ""
	case Cluster:
		return Command{Kind: Cluster, Settings: w.settings(t)}
	}
	if c.Kind != Acquire && len(w.numbers) > 0 && rapid.Bool().Draw(t, "by number") {
		return Command{Kind: c.Kind, TTL: c.TTL, Number: rapid.SampledFrom(w.numbers).Draw(t, "number")}
	}
	return c
}

func drawTTL(t *rapid.T) time.Duration {
	return rapid.SampledFrom([]time.Duration{
		time.Second, 100 * time.Millisecond, 30 * time.Second, largestDrawn,
		0, 99 * time.Millisecond, largestDrawn + time.Millisecond,
	}).Draw(t, "ttl")
}

func (w *world) evidence(t *rapid.T, key string) Evidence {
	r := w.model.standsFor(key)
	return rapid.SampledFrom([]Evidence{
		{},
		{Epoch: r.epoch, GrantIndex: r.grant},
		{Epoch: r.epoch, GrantIndex: r.grant + 1},
		{Epoch: r.epoch + 1, GrantIndex: r.grant},
		{Marker: w.model.base},
		{Marker: w.model.base + 1},
	}).Draw(t, "evidence")
}

func (w *world) settings(t *rapid.T) Settings {
	return rapid.SampledFrom([]Settings{
		{},
		{ClusterID: w.model.id, LargestTTL: time.Hour},
		{ClusterID: "another", LargestTTL: time.Hour},
		{LargestTTL: time.Hour},
		{ClearMarker: w.model.base},
		{ClearMarker: w.model.base + 1},
		{ResumeFloor: true},
		{ResumeFloor: true, ClearMarker: w.model.base},
	}).Draw(t, "settings")
}
