package supervise

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A descendant is a process as a look at /proc found it.
type descendant struct{ pid, parent int }

// String returns its number.
func (d descendant) String() string { return strconv.Itoa(d.pid) }

// signal sends a signal, unless the process is gone. The number of one that is
// not this process's child may be another process's by now, so it is taken hold
// of before it is looked at again.
func (d descendant) signal(sig syscall.Signal) {
	fd, err := unix.PidfdOpen(d.pid, 0)
	if err != nil {
		// Gone; or the system has no such descriptors, and then only the
		// number of a child, which is nobody else's before it is reaped, is
		// sure. The others become children.
		if d.parent == os.Getpid() {
			_ = unix.Kill(d.pid, sig)
		}
		return
	}
	defer func() { _ = unix.Close(fd) }() // it was only used to signal
	if parentOf(d.pid) == d.parent {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0) // whoever is gone needs no signal
	}
}

// descendants returns the children of a process, theirs, and so on. One look
// finds all, however deep: there is no time at the fence to wait for orphans to
// come up one by one.
func descendants(of int) []descendant {
	children := make(map[int][]int)
	for _, pid := range processes() {
		parent := parentOf(pid)
		children[parent] = append(children[parent], pid)
	}
	var found []descendant
	parents := []int{of}
	for len(parents) > 0 {
		parent := parents[0]
		parents = append(parents[1:], children[parent]...)
		for _, pid := range children[parent] {
			found = append(found, descendant{pid, parent})
		}
		delete(children, parent) // so that this ends, whatever was read
	}
	return found
}

// processes returns the numbers of all processes.
func processes() []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = proc.Close() }() // it was only read
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf returns the parent of a process, or -1 if it is gone.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return -1
	}
	// pid (name) state parent ...: the name may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return -1
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return -1
	}
	return parent
}
