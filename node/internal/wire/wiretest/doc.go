// Package wiretest is a network in memory, for tests in virtual time and out
// of it.
//
// Its connections are buffered and honour deadlines, as those of the operating
// system do and net.Pipe's do not. A [Net] joins named hosts, and can stop
// what passes between two of them without either noticing, as a pulled cable
// does. It starts no goroutine and opens no socket, so all of it may live in a
// testing/synctest bubble.
//
//	network := wiretest.NewNet()
//	listener, err := network.Host("n1").Listen("n1:7400")
//	conn, err := network.Host("n2").Dial(ctx, "n1:7400")
//	network.Cut("n1", "n2")
package wiretest
