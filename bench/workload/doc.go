// Package workload has what is measured, a file each. A workload starts the
// clusters that it needs, lets the systems take turns, and adds what it measured
// to the results.
package workload
