package main

import (
	"slices"
	"testing"
)

func TestFlagsMayStandBeforeTheVerb(t *testing.T) {
	for _, test := range []struct{ args, want []string }{
		{[]string{"get", "k"}, []string{"get", "k"}},
		{[]string{"-o", "json", "get", "k"}, []string{"get", "-o", "json", "k"}},
		{[]string{"--addr=h:1", "get", "k"}, []string{"get", "--addr=h:1", "k"}},
		{[]string{"--owner", "get", "acquire", "k"}, []string{"acquire", "--owner", "get", "k"}},
		{[]string{"--forget", "release", "k"}, []string{"release", "--forget", "k"}},
		{[]string{"-h"}, []string{"-h"}},
		{[]string{"--", "get"}, []string{"--", "get"}},
	} {
		if got := verbFirst(slices.Clone(test.args)); !slices.Equal(got, test.want) {
			t.Errorf("%q became %q, want %q", test.args, got, test.want)
		}
	}
}
