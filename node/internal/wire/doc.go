// Package wire is the protocol that nodes and Go clients speak: the hello that
// opens every connection, the frames of a multiplexed connection, and the
// messages in them.
//
// It works over any net.Conn and opens no socket of its own. Every wait is
// bounded by a deadline or a timer of package time.
//
// What it guarantees:
//
//   - A call that ends without an answer says whether its request surely never
//     left ([*NotSent]) or may have reached the other end ([*Broken]). The two
//     are never mixed: when in doubt it is Broken.
//   - An error in an answer arrives with its type and all its fields, so that
//     errors.Is and errors.As hold at the other end as they did at this one.
//   - No bytes from the other end panic, block, or allocate more than the
//     limits allow. A peer that breaks the protocol, sends more than it may, or
//     does not read its answers is cut off.
//   - A connection whose other end has vanished is noticed within the ping
//     timeout, by both ends.
//   - Close leaves no goroutine and no call without an answer.
//
// It never retries, and never decides what an answer means.
//
// One side dials, greets and calls:
//
//	peer, err := wire.Greet(ctx, nc, self)
//	conn := wire.NewConn(nc, wire.Config{})
//	answer, err := conn.Call(ctx, wire.OpLease, 0, request)
//
// The other accepts, answers the hello and serves:
//
//	peer, err := wire.ReadHello(nc)
//	err = wire.Answer(nc, self, wire.Check(self, peer))
//	err = wire.Serve(ctx, nc, wire.Config{}, handler)
package wire
