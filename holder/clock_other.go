//go:build !linux

package holder

import "example.com/tenure"

func newBootClock() tenure.Clock { return tenure.MonotonicClock() }
