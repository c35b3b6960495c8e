package cluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
)

// A server is what runs in a server process.
type server interface {
	// describe fills in what the server knows of itself.
	describe(s *State)
	close()
}

// Serve is the main function of a server process. It returns when its standard
// input ends.
func Serve(argument string) error {
	var sp spec
	if err := json.Unmarshal([]byte(argument), &sp); err != nil {
		return err
	}
	s, err := open(sp)
	if err != nil {
		return err
	}
	defer s.close()
	return answer(sp, s, os.Stdin, os.Stdout)
}

func open(sp spec) (server, error) {
	switch sp.Kind {
	case Tenure, TenureWAL:
		return openTenure(sp)
	case Etcd:
		return openEtcd(sp)
	}
	return nil, fmt.Errorf("a server of kind %q", sp.Kind)
}

// answer answers questions, a line each, until there are no more.
func answer(sp spec, s server, in io.Reader, out io.Writer) error {
	lines, encoder := bufio.NewScanner(in), json.NewEncoder(out)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		if q.Profile != "" {
			go Profile(q.Profile)
		}
		if err := encoder.Encode(state(sp, s, q)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func state(sp spec, s server, q question) State {
	var m runtime.MemStats
	if q.Collect {
		debug.FreeOSMemory()
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	st := State{Heap: m.HeapAlloc, CPU: int64(processorTime()), Written: written(), Disk: folderSize(sp.Dir)}
	s.describe(&st)
	return st
}
