//go:build unix

package jepsenlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	jepsenlite "example.com/tenure/jepsen-lite"
)

// The toy is a fleet for the tests of the harness: processes of the test
// binary. Whoever has the lock of a file owns all keys, until it dies; the
// others pass requests on to it. It is right unless it has a defect. With one
// of them there is a lease instead of the lock, and nobody looks at it.

// The environment of a toy's replica.
const (
	toyDefect = "TOY_DEFECT"
	toySelf   = "TOY_REPLICA" // a jepsenlite.Replica as JSON
)

// toyTTL is that of the lease of a toy that has one.
const toyTTL = 300 * time.Millisecond

// The defects of toys.
const (
	noDefect     = "none"
	twoOwners    = "each replica takes itself for the owner"
	losesWrites  = "writes are acknowledged and not written"
	fallingEpoch = "each owner's epoch is lower than the one before"
	writesTwice  = "values are written twice"
	noGate       = "an owner whose lease has ended while it stood still goes on"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(toySelf); text != "" {
		var self jepsenlite.Replica
		if err := json.Unmarshal([]byte(text), &self); err != nil {
			panic(err)
		}
		panic(newToy(self, os.Getenv(toyDefect)).serve())
	}
	os.Exit(m.Run())
}

// toyFleet is the adapter: what a user writes.
type toyFleet struct{ jepsenlite.Processes }

func newToyFleet(t *testing.T, defect string) *toyFleet {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &toyFleet{jepsenlite.Processes{Command: func(r jepsenlite.Replica) *exec.Cmd {
		self, err := json.Marshal(r)
		if err != nil {
			t.Error(err)
		}
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), toySelf+"="+string(self), toyDefect+"="+defect)
		return cmd
	}}}
}

func (f *toyFleet) Write(ctx context.Context, r jepsenlite.Replica, key string, value uint64) (jepsenlite.Ack, error) {
	found, err := ask(ctx, http.MethodPost, fmt.Sprintf("http://%s/%s?value=%d", r.Listen[0], key, value))
	return found.Ack, err
}

func (f *toyFleet) Read(ctx context.Context, r jepsenlite.Replica, key string) (jepsenlite.Values, error) {
	return ask(ctx, http.MethodGet, fmt.Sprintf("http://%s/%s", r.Listen[0], key))
}

func ask(ctx context.Context, method, url string) (found jepsenlite.Values, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return found, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return found, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return found, err
	}
	if res.StatusCode != http.StatusOK {
		return found, errors.New(string(body))
	}
	return found, json.Unmarshal(body, &found)
}

// A toy is one replica.
type toy struct {
	jepsenlite.Replica
	defect string

	mu     sync.Mutex
	epoch  uint64 // 0 while it is not the owner
	memory map[string][]uint64
}

func newToy(self jepsenlite.Replica, defect string) *toy {
	return &toy{Replica: self, defect: defect, memory: make(map[string][]uint64)}
}

func (r *toy) serve() error {
	go r.own()
	return http.ListenAndServe(r.Listen[0], r)
}

// own takes the lock and becomes the owner.
func (r *toy) own() {
	if r.defect == noGate {
		r.ownByLease()
	}
	if r.defect != twoOwners {
		r.lock()
	}
	r.reign()
	select {} // the lock goes with the process
}

// lock waits for the lock.
func (r *toy) lock() *os.File {
	f, err := os.OpenFile(filepath.Join(r.Shared, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		panic(err)
	}
	for syscall.Flock(int(f.Fd()), syscall.LOCK_EX) != nil { // interrupted
	}
	return f
}

// ownByLease becomes the owner when the lease was not renewed for a TTL, and
// renews it for ever, without a look at whose it is.
func (r *toy) ownByLease() {
	for seen, since := "", time.Now(); ; time.Sleep(toyTTL / 10) {
		lock := r.lock()
		text, _ := os.ReadFile(filepath.Join(r.Shared, "lease")) // none yet
		if string(text) != seen {
			seen, since = string(text), time.Now()
		}
		free := time.Since(since) > toyTTL
		if free {
			r.reign()
		}
		for n := 0; free; n++ {
			r.publish("lease", fmt.Sprint(r.Name, os.Getpid(), n))
			lock.Close()
			time.Sleep(toyTTL / 10)
		}
		lock.Close()
	}
}

// reign begins a tenure.
func (r *toy) reign() {
	text, _ := os.ReadFile(filepath.Join(r.Shared, "epoch")) // none yet
	last, _ := strconv.ParseUint(string(text), 10, 64)
	r.publish("epoch", strconv.FormatUint(last+1, 10))
	r.publish("owner", r.Name)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch r.epoch = last + 1; r.defect {
	case fallingEpoch:
		r.epoch = 1000 - last
	case twoOwners:
		r.epoch = 7
	}
}

func (r *toy) publish(name, text string) {
	temporary := filepath.Join(r.Dir, name)
	if err := os.WriteFile(temporary, []byte(text), 0o644); err != nil {
		panic(err)
	}
	if err := os.Rename(temporary, filepath.Join(r.Shared, name)); err != nil {
		panic(err)
	}
}

func (r *toy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	found, err := r.answer(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	json.NewEncoder(w).Encode(found)
}

func (r *toy) answer(req *http.Request) (found jepsenlite.Values, err error) {
	r.mu.Lock()
	epoch := r.epoch
	r.mu.Unlock()
	if epoch == 0 {
		return r.pass(req)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := strings.TrimPrefix(req.URL.Path, "/")
	found.Ack = jepsenlite.Ack{Epoch: epoch, Owner: r.Name}
	if req.Method == http.MethodPost {
		value, err := strconv.ParseUint(req.URL.Query().Get("value"), 10, 64)
		if err != nil {
			return found, err
		}
		return found, r.add(key, value)
	}
	found.Values, err = r.values(key)
	return found, err
}

func (r *toy) add(key string, value uint64) error {
	if r.defect == losesWrites {
		r.memory[key] = append(r.memory[key], value)
		return nil
	}
	f, err := os.OpenFile(filepath.Join(r.Shared, "key-"+key), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	line := fmt.Sprintln(value)
	if r.defect == writesTwice {
		line += line
	}
	if _, err := io.WriteString(f, line); err != nil {
		return err
	}
	return f.Sync()
}

func (r *toy) values(key string) ([]uint64, error) {
	text, err := os.ReadFile(filepath.Join(r.Shared, "key-"+key))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	found := slices.Clone(r.memory[key])
	for _, line := range strings.Fields(string(text)) {
		value, err := strconv.ParseUint(line, 10, 64)
		if err != nil {
			return nil, err
		}
		found = append(found, value)
	}
	return found, nil
}

// pass asks the owner, through the relay to it, once.
func (r *toy) pass(req *http.Request) (found jepsenlite.Values, err error) {
	if req.URL.Query().Has("passed") {
		return found, errors.New("not the owner")
	}
	owner, err := os.ReadFile(filepath.Join(r.Shared, "owner"))
	if err != nil {
		return found, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), time.Second)
	defer cancel()
	for _, p := range r.Peers {
		if p.Name == string(owner) && p.Name != r.Name {
			return ask(ctx, req.Method, fmt.Sprintf("http://%s%s?passed=1&%s", p.Dial[0], req.URL.Path, req.URL.RawQuery))
		}
	}
	return found, errors.New("nobody owns the key")
}
