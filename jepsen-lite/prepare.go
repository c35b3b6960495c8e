package jepsenlite

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"example.com/tenure/jepsen-lite/fleet"
)

// prepare makes sure that the run can end as it should before anything starts.
func prepare(t T, c Config) (*run, error) {
	r := &run{t: t}
	var err error
	if path := os.Getenv(EnvPlan); path != "" {
		if r.given, err = fleet.ReadFile(path); err != nil {
			return nil, err
		}
		c.Seed, c.Duration, c.Available = r.given.Seed, time.Duration(r.given.Safety), time.Duration(r.given.Available)
	} else if err := c.environment(); err != nil {
		return nil, err
	}
	if dir := os.Getenv(EnvDir); dir != "" {
		c.Dir = dir
	}
	if r.cfg, err = c.fill(); err != nil {
		return nil, err
	}
	if err := r.fitsInto(t); err != nil {
		return nil, err
	}
	return r, r.makeFolder()
}

// fitsInto reports a test that would be over before the run is, as go test has
// it unless it is told otherwise.
func (r *run) fitsInto(t T) error {
	d, limited := t.(interface{ Deadline() (time.Time, bool) })
	if !limited {
		return nil
	}
	end, limited := d.Deadline()
	needs := r.cfg.Duration + r.cfg.Start + 3*r.cfg.Available // the last for writes, reads and what comes too late
	if left := time.Until(end); limited && left < needs {
		return invalid("-timeout", "with "+left.Round(time.Second).String()+" left", "of go test: at least %v more for this run", (needs - left).Round(time.Second))
	}
	return nil
}

var unsafeInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

func (r *run) makeFolder() (err error) {
	if r.cfg.Dir == "" {
		r.own = true
		r.dir, err = os.MkdirTemp("", "jepsen-lite-")
		return err
	}
	name := unsafeInNames.ReplaceAllString(r.t.Name(), "-")
	parent := filepath.Join(r.cfg.Dir, name)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	if r.dir, err = os.MkdirTemp(parent, fmt.Sprintf("seed-%d-", r.cfg.Seed)); err != nil {
		return err
	}
	r.dir, err = filepath.Abs(r.dir) // a replica may run elsewhere
	return err
}

// anySeed returns a seed that no one has chosen, short enough to be typed, not
// zero.
func anySeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return 1 + binary.LittleEndian.Uint64(b[:])%1e9
}
