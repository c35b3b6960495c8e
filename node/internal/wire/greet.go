package wire

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"
)

// Greet exchanges hellos on a connection that this end dialled, and returns
// the other end's. It blocks until that is done or ctx ends. The error is a
// [*Refused] if either end refuses the other. The caller closes the connection
// after an error.
func Greet(ctx context.Context, conn net.Conn, self Hello) (Hello, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	peer, err := greet(conn, self)
	if !stop() && err == nil { // the deadline of the past may come any moment
		err = context.Cause(ctx)
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if ctx.Err() != nil && err != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return peer, err
}

func greet(conn net.Conn, self Hello) (Hello, error) {
	if _, err := conn.Write(appendHello(nil, self, nil)); err != nil {
		return Hello{}, fmt.Errorf("hello: %w", err)
	}
	peer, refused, err := readHello(conn)
	switch {
	case err != nil:
		return Hello{}, fmt.Errorf("answer to the hello: %w", err)
	case refused != nil:
		return peer, refused
	}
	if refused := CheckAnswer(self, peer); refused != nil {
		return peer, refused
	}
	return peer, nil
}

// ReadHello reads the hello of an end that dialled, and not a byte more. The
// caller sets a deadline on the connection behind from, and answers with
// [Answer].
func ReadHello(from io.Reader) (Hello, error) {
	h, refused, err := readHello(from)
	if err == nil && refused != nil {
		return Hello{}, fmt.Errorf("%w: a hello with a verdict", ErrProtocol)
	}
	return h, err
}

// Answer answers a hello: with self and, if refused is not nil, a refusal. The
// caller sets a deadline on the connection, and closes it after a refusal.
func Answer(conn io.Writer, self Hello, refused *Refused) error {
	self.ExpectID, self.ExpectIncarnation = "", ""
	_, err := conn.Write(appendHello(nil, self, refused))
	return err
}
