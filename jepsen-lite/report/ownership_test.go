package report_test

import (
	"bytes"
	"strings"
	"testing"
)

// Of a fleet that is looked at from outside, the page draws who answered under
// which epoch; a violation's explanation tells the same.
func TestReignsAreDrawn(t *testing.T) {
	var page bytes.Buffer
	if err := load(t, "good/fleet-frozen-owner").HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"r1 answered for k1 at epoch 1", "r2 answered for k1 at epoch 2", "pause-holder"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	var text bytes.Buffer
	if err := load(t, "bad/reigns-old-owner-answers").Text(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "k1 epoch 2 of r2: asked from 0.005000s on") {
		t.Errorf("it is not told who answered: %s", &text)
	}
}
