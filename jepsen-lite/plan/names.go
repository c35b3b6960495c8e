package plan

import (
	"strconv"
	"strings"
)

// The workloads.
const (
	Contended = "contended" // replicas contend for the keys and write to their durable copies through the gate
)

// Workloads are the names of all workloads.
func Workloads() []string { return []string{Contended} }

// NodeName returns the name of the i-th node, from 0.
func NodeName(i int) string { return "n" + strconv.Itoa(i+1) }

// ReplicaName returns the name of the i-th replica, from 0.
func ReplicaName(i int) string { return "r" + strconv.Itoa(i+1) }

// KeyName returns the name of the i-th key, from 0.
func KeyName(i int) string { return "k" + strconv.Itoa(i+1) }

func isNode(host string) bool { return strings.HasPrefix(host, "n") || host == Leader }

// Link returns the name of the link from one host to another.
func Link(from, to string) string { return from + ">" + to }

// Ends returns the hosts of a link.
func Ends(link string) (from, to string, ok bool) { return strings.Cut(link, ">") }
