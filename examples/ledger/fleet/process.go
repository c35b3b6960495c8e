package fleet

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// A process is one incarnation of a replica.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer     // it stops when this ends, as it does when we die
	done  chan struct{} // closed when it has ended
}

// spawn starts a process that writes to a log file.
func spawn(command, env []string, logPath string) (*process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	detach(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, done: make(chan struct{})}
	go func() {
		cmd.Wait() // how it ended is in its log
		close(p.done)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill ends the process as kill -9 does, and waits until it has gone.
func (p *process) kill() {
	if !p.ended() {
		p.cmd.Process.Kill() // it may have ended this moment
	}
	<-p.done
	p.stdin.Close()
}

// terminate asks the process to leave, and waits until it has gone.
func (p *process) terminate() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-p.done
	p.stdin.Close()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("process %d ended with %d", p.pid(), code)
	}
	return nil
}
