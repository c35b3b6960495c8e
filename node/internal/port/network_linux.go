package port

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged breaks the connection once sent data was not acknowledged
// for so long; without it that takes the system a quarter of an hour. It is an
// improvement only, so that an error counts for nothing.
func limitUnacknowledged(c net.Conn, limit time.Duration) {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
	})
}
