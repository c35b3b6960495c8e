// Package report writes down what a run showed: a JSON summary for programs,
// JUnit XML for CI, and one self-contained HTML page for people.
//
//	r := report.New(h, check.Judge(h))
//	err := r.WriteFiles("out")
package report
