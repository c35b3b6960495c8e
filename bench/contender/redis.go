package contender

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ErrNoRedis says that there is no redis-server on this machine.
var ErrNoRedis = errors.New("no redis-server is installed")

// A RedisServer is a single server that syncs each command.
type RedisServer struct {
	Addr string
	cmd  *exec.Cmd
}

// StartRedis starts a server with its data in dir.
func StartRedis(ctx context.Context, dir string) (*RedisServer, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrNoRedis
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().(*net.TCPAddr)
	l.Close()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &RedisServer{Addr: addr.String(), cmd: exec.Command(path, "--port", strconv.Itoa(addr.Port), "--bind", "127.0.0.1",
		"--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--save", "")}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for ctx.Err() == nil {
		if c, err := net.Dial("tcp", s.Addr); err == nil {
			return s, c.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.Close()
	return nil, ctx.Err()
}

// Close ends the server.
func (s *RedisServer) Close() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// A redisCycler has a connection for each worker, as clients of Redis do.
type redisCycler struct {
	addr string

	mu    sync.Mutex
	conns map[int]*redisConn
}

type redisConn struct {
	net.Conn
	lines *bufio.Reader
}

func newRedisCycler(addr string) *redisCycler {
	return &redisCycler{addr: addr, conns: make(map[int]*redisConn)}
}

// release deletes the key if it still is the caller's.
const release = `if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end`

// Cycle implements [Cycler].
func (c *redisCycler) Cycle(_ context.Context, worker int) error {
	conn, err := c.conn(worker)
	if err != nil {
		return err
	}
	key, token := workerKey(worker), "token"
	if answer, err := conn.do("SET", key, token, "NX", "PX", strconv.FormatInt(cycleTTL.Milliseconds(), 10)); err != nil || answer != "+OK" {
		return fmt.Errorf("redis: SET answers %q: %w", answer, err)
	}
	if answer, err := conn.do("EVAL", release, "1", key, token); err != nil || answer != ":1" {
		return fmt.Errorf("redis: EVAL answers %q: %w", answer, err)
	}
	return nil
}

func (c *redisCycler) conn(worker int) (*redisConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn := c.conns[worker]; conn != nil {
		return conn, nil
	}
	nc, err := net.Dial("tcp", c.addr)
	if err != nil {
		return nil, err
	}
	conn := &redisConn{nc, bufio.NewReader(nc)}
	c.conns[worker] = conn
	return conn, nil
}

// do sends a command and returns the first line of the answer.
func (c *redisConn) do(words ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(c, b.String()); err != nil {
		return "", err
	}
	line, err := c.lines.ReadString('\n')
	return strings.TrimRight(line, "\r\n"), err
}

func (c *redisCycler) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	return nil
}
