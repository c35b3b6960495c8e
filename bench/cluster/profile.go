package cluster

import (
	"fmt"
	"os"
	"runtime/pprof"
	"time"
)

// profileTime is how long a profile of the processor takes.
const profileTime = 10 * time.Second

// Profile profiles the processor time of this process to a file. It blocks for
// ten seconds. A profile that is under way already makes it do nothing.
func Profile(path string) {
	file, err := os.Create(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer file.Close()
	if err := pprof.StartCPUProfile(file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	time.Sleep(profileTime)
	pprof.StopCPUProfile()
}
