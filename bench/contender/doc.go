// Package contender has the client sides of what is measured: for each system
// how a program acquires and releases keys with it, as its users do.
package contender
