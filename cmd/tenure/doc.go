// Command tenure runs the nodes of a lease cluster, and is its command line:
//
//	tenure dev                 a whole cluster in one process
//	tenure serve               one node
//	tenure acquire, renew, release, forget, get, list, watch
//	tenure run KEY -- CMD      holds the lease of KEY while CMD runs
//	tenure status, members, join, remove, transfer
//	tenure version, help
//
// It exits 0 when done, 1 when something failed, 2 for wrong usage, 3 when the
// key is held by another tenure, 4 when the tenure is lost, 5 when no answer
// came. 'tenure help VERB' says the rest.
package main
