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
// What it guarantees: once the fence has passed, or the front is gone, however
// it went, everything that the command started is sent SIGKILL, at once:
//
//   - The front was killed (SIGKILL): the supervisor sees the socket close.
//   - The front is stopped (SIGSTOP) or hangs: the supervisor's own timer.
//   - The supervisor was killed: the front sees the socket close and, being
//     the next subreaper, inherits and kills the supervisor's children. The
//     command itself also dies by its parent-death signal.
//   - The supervisor is stopped: the front kills it at the fence, and goes on
//     as before.
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
// fired. If front and supervisor are both killed in one instant, only the
// command itself, not what it started, dies with them. A process moved out by
// other means than fork (a container or a unit that a daemon starts on the
// command's behalf) was never its descendant.
//
// It works on Linux only: no other system lets a process inherit orphans or
// have its child killed when it dies.
package supervise
