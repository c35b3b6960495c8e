// Package child runs processes of this host for the harness, and strikes them
// with what their system has for that. A child is in a process group of its
// own, which an interrupt at the terminal does not reach; its own children are
// struck with it. On Linux it dies with the harness, however that ends.
package child

import (
	"os/exec"
	"runtime"
)

// A Child is a process under the harness. Its methods can be called
// concurrently.
type Child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended and err is set
	err  error
}

// Start starts a command, which must not have been started. The files that it
// is given must be real ones: nothing is copied.
func Start(cmd *exec.Cmd) (*Child, error) {
	attach(cmd)
	c := &Child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux kills it when the thread that started it dies, so that one
		// waits for its end, too.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// Pid returns the id of the process.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Done is closed when the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Err returns how the process ended, once Done is closed: nil for exit code 0.
func (c *Child) Err() error {
	<-c.done
	return c.err
}

// Ended reports whether the process has ended.
func (c *Child) Ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Kill ends the process as kill -9 does, be it stopped or not, and waits until
// it is gone. It can be called again.
func (c *Child) Kill() error {
	if err := c.kill(); err != nil && !c.Ended() {
		return err
	}
	<-c.done
	return nil
}

// Stop stops the process between two of its instructions.
func (c *Child) Stop() error { return c.stop() }

// Continue lets a process that was stopped go on.
func (c *Child) Continue() error { return c.proceed() }

// Stopped reports what the system says of the process: whether all of it
// stands still. It is false once the process has ended.
func (c *Child) Stopped() (bool, error) {
	if c.Ended() {
		return false, nil
	}
	return stopped(c.Pid())
}
