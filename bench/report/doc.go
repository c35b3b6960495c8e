// Package report keeps what the rounds of a benchmark measured, and shows it: as
// a table for a terminal, as JSON, and as one page with a chart.
package report
