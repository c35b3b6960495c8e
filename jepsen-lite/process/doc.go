// Package process is the arena of real processes: every node and every replica
// is a process of this host, with real bolt files and real connections, each
// directed link through a relay of the harness. It needs Linux, and no
// privilege.
//
// The processes are this program itself, started again: its main function has
// to begin with
//
//	if process.IsChild() {
//		os.Exit(process.Child())
//	}
//
// They write down what they do and send it to the arena over a pipe, so that
// what one had written down when it was killed is not lost. All instants are
// read from CLOCK_MONOTONIC, which is one clock for all processes of a host.
//
// Everything a run makes is in its folder, and every process ends with it: by
// itself at the end, by SIGKILL when the arena dies, however it does.
//
// A busy host lets processes wait for their turn, which they notice and write
// down as a [Stall]: what it leads to is not without a cause.
//
// Its disks are those of the host: they neither fail nor hang. Its clocks are
// the host's, too, but where a plan lets them run at other rates.
package process
