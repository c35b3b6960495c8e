package supervise

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An order goes from the front to the supervisor. Exactly one field is set.
type order struct {
	Limits *Limits        `json:"limits,omitempty"`
	Signal syscall.Signal `json:"signal,omitempty"` // for the command's process group
	Halt   bool           `json:"halt,omitempty"`   // stop the front
}

// A Kind says what a [Report] tells.
type Kind string

// The kinds of reports. The last one is Failed or Exited, unless the supervisor
// was killed.
const (
	Started Kind = "started" // Pid is the command's and its process group's
	Failed  Kind = "failed"  // the command could not be started: Message says why
	Stopped Kind = "stopped" // the command was stopped by the terminal or by SIGTSTP
	Warned  Kind = "warned"  // the warning's instant passed, SIGTERM was sent
	Fenced  Kind = "fenced"  // the kill's instant passed, SIGKILL was sent
	Left    Kind = "left"    // the command is gone, but not what it left behind: that was sent SIGTERM
	Exited  Kind = "exited"  // the command and all that it started are gone: Code is its exit code
)

// A Report goes from the supervisor to the front.
type Report struct {
	Kind    Kind   `json:"kind"`
	Pid     int    `json:"pid,omitempty"`
	Code    int    `json:"code,omitempty"` // as a shell has it: 128 and the number for a signal
	Message string `json:"message,omitempty"`
}

// A link is one end of the socket between front and supervisor. Messages are
// JSON, one a line.
type link struct {
	file *os.File
	dec  *json.Decoder
}

func newLink(fd int) (*link, error) {
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	file := os.NewFile(uintptr(fd), "supervise")
	if file == nil {
		return nil, fmt.Errorf("socket: %d is no file descriptor", fd)
	}
	return &link{file: file, dec: json.NewDecoder(file)}, nil
}

// sendTimeout is how long the other end may leave its buffer full, which holds
// thousands of messages, until it counts as broken.
const sendTimeout = time.Second

func (l *link) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if err := l.file.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	_, err = l.file.Write(append(line, '\n'))
	return err
}

// receive passes messages on until the other end closes or breaks, and closes
// the channel then.
func receive[T any](l *link, to chan<- T) {
	defer close(to)
	for {
		var message T
		if err := l.dec.Decode(&message); err != nil {
			return
		}
		to <- message
	}
}
