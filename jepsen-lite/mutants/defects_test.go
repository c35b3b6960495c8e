package mutants

import (
	"strings"
	"testing"
)

// Every defect fits the source as it is now.
func TestDefectsFit(t *testing.T) {
	source, err := FindSource(".")
	if err != nil {
		t.Fatal(err)
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Errorf("there are %d defects, want at least 20", len(all))
	}
	for i := range all {
		if _, err := source.Plant(&all[i]); err != nil {
			t.Error(err)
		}
	}
}

// Some defects are built, one for each way of planting: the rest is built by
// whoever runs them.
func TestDefectsCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the harness")
	}
	source, err := FindSource(".")
	if err != nil {
		t.Fatal(err)
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		switch all[i].Name {
		case "margin-ignored", "released-for-the-gone":
			if _, err := source.Build(t.Context(), &all[i], t.TempDir()); err != nil {
				t.Error(err)
			}
		}
	}
}

// A defect whose text moved is an error, not a defect that is none.
func TestDefectThatNoLongerFits(t *testing.T) {
	source, err := FindSource(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, file, find, want string }{
		{"gone", "holder/do.go", "no such text", "has 0 times"},
		{"twice", "holder/do.go", "return", "times what must be there once"},
		{"no file", "holder/nowhere.go", "x", "no longer fits"},
	} {
		_, err := source.Plant(&Defect{Name: "old", Changes: []Change{{File: c.file, Find: c.find}}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// Outside a checkout the error says what is missing.
func TestNoSource(t *testing.T) {
	if _, err := FindSource(t.TempDir()); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("error %v, want one that names go.mod", err)
	}
}
