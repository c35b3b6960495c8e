package port

import (
	"context"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// Both ends of a connection break soon after the other has vanished: when sent
// data is not acknowledged, and when nothing is sent.
func TestVanishedPeers(t *testing.T) {
	l, err := TCP().Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := TCP().Dial(context.Background(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	want := map[int]int{unix.TCP_USER_TIMEOUT: 10000, unix.TCP_KEEPIDLE: 5, unix.TCP_KEEPINTVL: 2, unix.TCP_KEEPCNT: 3}
	for _, c := range []net.Conn{dialled, accepted} {
		raw, err := c.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		err = raw.Control(func(fd uintptr) {
			for option, value := range want {
				if got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option); got != value || err != nil {
					t.Errorf("option %d is %d, %v, want %d", option, got, err, value)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
