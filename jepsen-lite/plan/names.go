package plan

import (
	"strconv"
	"strings"
)

// NodeName returns the name of the i-th node, from 0.
func NodeName(i int) string { return "n" + strconv.Itoa(i+1) }

// ReplicaName returns the name of the i-th replica, from 0.
func ReplicaName(i int) string { return "r" + strconv.Itoa(i+1) }

func isNode(host string) bool { return strings.HasPrefix(host, "n") || host == Leader }

// Link returns the name of the link from one host to another.
func Link(from, to string) string { return from + ">" + to }

// Ends returns the hosts of a link.
func Ends(link string) (from, to string, ok bool) { return strings.Cut(link, ">") }
