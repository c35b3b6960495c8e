// Package fleet runs a fleet of ledger replicas as processes on one machine,
// with writers and a reader, kills and freezes replicas, and checks the ledgers
// afterwards: every acknowledged entry is there, once, in its place, and the
// entries of each writer are in the order in which it wrote them.
package fleet
