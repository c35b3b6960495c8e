package main

import (
	"net"
	"strings"
	"sync"

	"example.com/tenure/node"
)

// openPorts is a network whose listeners have been opened before the nodes ask
// for them.
type openPorts struct {
	node.Network

	mu        sync.Mutex
	listeners map[string]net.Listener // not taken yet, by address
}

// open opens a listener and returns its address. Port 0 becomes a free one.
func (o *openPorts) open(addr string) (string, error) {
	l, err := o.Network.Listen(addr)
	if err != nil {
		return "", err
	}
	if host, port, ok := cutLast(addr, ":"); ok && port == "0" {
		_, port, _ = cutLast(l.Addr().String(), ":")
		addr = host + ":" + port
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.listeners[addr] = l
	return addr, nil
}

// Listen hands out the listener that was opened for the address.
func (o *openPorts) Listen(addr string) (net.Listener, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if l, ok := o.listeners[addr]; ok {
		delete(o.listeners, addr)
		return l, nil
	}
	return o.Network.Listen(addr)
}

// close closes the listeners that were not handed out.
func (o *openPorts) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.listeners {
		_ = l.Close() // nobody has used it
	}
	clear(o.listeners)
}

// cutLast slices text around the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}
