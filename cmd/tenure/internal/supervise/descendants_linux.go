package supervise

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"
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
// finds all, however deep: there is no time at the kill to wait for orphans to
// come up one by one. It costs what there are descendants, however many other
// processes the machine runs: on a busy one, a look at all of them takes longer
// than the dying.
func descendants(of int) []descendant {
	var found []descendant
	seen := map[int]bool{of: true} // so that this ends, whatever was read
	for parents := []int{of}; len(parents) > 0; parents = parents[1:] {
		for _, pid := range children(parents[0]) {
			if !seen[pid] {
				seen[pid] = true
				parents = append(parents, pid)
				found = append(found, descendant{pid, parents[0]})
			}
		}
	}
	return found
}

// children returns the children of a process, as far as they are still there:
// one may be left out when another ends in that instant.
func children(parent int) []int {
	tasks := "/proc/" + strconv.Itoa(parent) + "/task/"
	var found []int
	for _, thread := range numbersIn(tasks) {
		list, err := os.ReadFile(tasks + strconv.Itoa(thread) + "/children")
		if errors.Is(err, fs.ErrNotExist) && !listsChildren() {
			return childrenAmong(numbersIn("/proc"), parent)
		}
		for _, field := range bytes.Fields(list) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				found = append(found, pid)
			}
		}
	}
	return found
}

// listsChildren reports whether the kernel lists the children of a thread,
// which some are built without.
var listsChildren = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
})

// childrenAmong returns those of the processes whose parent is a certain one.
func childrenAmong(pids []int, parent int) []int {
	return slices.DeleteFunc(pids, func(pid int) bool { return parentOf(pid) != parent })
}

// numbersIn returns the names in a folder of /proc that are numbers.
func numbersIn(folder string) []int {
	dir, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }() // it was only read
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var numbers []int
	for _, name := range names {
		if number, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, number)
		}
	}
	return numbers
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
