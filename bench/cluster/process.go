package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A process is a server process as this one sees it.
type process struct {
	spec  spec
	cmd   *exec.Cmd
	ended chan struct{}

	mu    sync.Mutex // of a question and its answer
	in    io.WriteCloser
	lines *bufio.Reader
}

// start starts a server process.
func start(sp spec) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	argument, err := json.Marshal(sp)
	if err != nil {
		return nil, err
	}
	p := &process{spec: sp, cmd: exec.Command(self, ServeVerb, string(argument)), ended: make(chan struct{})}
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.lines = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait()
	}()
	return p, nil
}

// ask asks the server. It blocks until the answer is there or the process ends.
func (p *process) ask(q question) (State, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var st State
	line, err := json.Marshal(q)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	if err == nil {
		line, err = p.lines.ReadBytes('\n')
	}
	if err == nil {
		err = json.Unmarshal(line, &st)
	}
	if err == nil && st.Err != "" {
		err = errors.New(st.Err)
	}
	if err != nil {
		return st, fmt.Errorf("%s %s: %w", p.spec.Kind, nodeID(p.spec.ID), err)
	}
	return st, nil
}

// kill ends the process at once, as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// closeTime is how long a server may take to stop.
const closeTime = 15 * time.Second

// close has the server stop, and ends the process if it doesn't.
func (p *process) close() {
	_ = p.in.Close()
	select {
	case <-p.ended:
	case <-time.After(closeTime):
		p.kill()
	}
}
