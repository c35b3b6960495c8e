// Package supervise runs a command that must be dead by an instant which moves.
//
// Two processes watch over the command, and either of them alone is enough:
//
//   - The front, which called [Start], holds the lease and moves the limits.
//   - The supervisor is a second process of the same program. It is the
//     command's parent, knows nothing of leases or networks, and lives in a
//     process group of its own, so that what hits the front's or the command's
//     group does not hit it. Its loop is [Supervise].
//
// They are joined by a socket. Limits are instants of CLOCK_BOOTTIME, which
// all processes of a machine share and which goes on while it is suspended, so
// it does not matter how long an order is under way.
//
// What it guarantees: once the instant of the kill has come, or the front is
// gone, however it went, everything that the command started is sent SIGKILL, at
// once:
//
//   - The front was killed (SIGKILL): the supervisor sees the socket close.
//   - The front is stopped (SIGSTOP) or hangs: the supervisor's own timer.
//   - The supervisor was killed: the front sees the socket close and, being
//     the next subreaper, inherits and kills the supervisor's children. The
//     command itself also dies by its parent-death signal.
//   - The supervisor is stopped: the front, which knows when the lease is over,
//     kills the command's processes itself, then the supervisor, and goes on as
//     before.
//
// To be sent a signal is not to be dead: the watcher has to be scheduled, and so
// has each process, to die. The caller sets the kill so long before the instant
// at which the command must be dead that this is done by then, and the time that
// is left until the key can be anybody else's comes on top.
//
// 'Everything that the command started' is its process group and, beyond that,
// whatever left the group or the session: both processes are subreapers, so an
// orphan among the command's descendants becomes their child and stays one. The
// key must not be let go while one of them lives; the last report comes only
// after all of them are gone.
//
// What it cannot guarantee: SIGKILL acts when the kernel gets to it. A process
// in an uninterruptible system call finishes that call first; a machine that
// is frozen as a whole (suspended, or a virtual machine paused by its host)
// may run the command for an instant after it thaws, before either timer has
// fired. If front and supervisor are both killed in one instant, or one is
// stopped when the other is killed, only the command itself, not what it started,
// dies with them. A process moved out by other means than fork (a container or a
// unit that a daemon starts on the command's behalf) was never its descendant.
// Processes that go on forking into new process groups faster than /proc can be
// read may outrun the kill for a while; the key is not let go meanwhile, but
// expires.
//
// It works on Linux only: no other system lets a process inherit orphans or
// have its child killed when it dies.
package supervise
