package mutants

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/tenure/jepsen-lite/plan"
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
		case "restore-leaves-alive":
			r := Runner{Source: source, Dir: t.TempDir()}
			if row, err := r.Try(t.Context(), &all[i]); err != nil || !row.OK() {
				t.Errorf("%v: %v", row, err)
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

// The cheapest are those that were caught soonest; where nobody knows, a defect
// comes last.
func TestCheapest(t *testing.T) {
	all := []Defect{{Name: "a"}, {Name: "b", Takes: 3}, {Name: "c", Takes: 1}, {Name: "d", Takes: 2}}
	for n, want := range []string{"", "c", "c d", "b c d", "a b c d", "a b c d"} {
		var names []string
		for _, d := range Cheapest(all, n) {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("the %d cheapest are %q, want %q", n, got, want)
		}
	}
}

// Most defects can be tried with real processes as well, for as long as real
// time demands; a defect whose faults they can't have says which.
func TestInProcesses(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	there := 0
	for i := range all {
		d, err := all[i].In(plan.Process)
		switch {
		case err != nil && !strings.Contains(err.Error(), all[i].Name):
			t.Errorf("%s: the error does not name it: %v", all[i].Name, err)
		case err != nil:
		case d.Arena() != plan.Process || d.Budget() != time.Minute || d.Plan(1).Validate() != nil:
			t.Errorf("%s: arena %s, budget %v, plan %v", d.Name, d.Arena(), d.Budget(), d.Plan(1).Validate())
		default:
			there++
		}
		if all[i].Stories == "" && all[i].Arena() != plan.Virtual {
			t.Errorf("%s is changed itself", all[i].Name)
		}
	}
	if there < 20 {
		t.Errorf("%d defects can be tried with processes, want at least 20", there)
	}
	flip := slices.IndexFunc(all, func(d Defect) bool { return d.Name == "flipped-bit-applied" })
	if _, err := all[flip].In(plan.Process); err == nil || !strings.Contains(err.Error(), plan.BitFlip) {
		t.Errorf("error %v, want one that names %s", err, plan.BitFlip)
	}
}

// A defect that says too little, or what cannot be, is refused.
func TestMalformedDefects(t *testing.T) {
	const change = "-- a.go: find --\nx\n-- a.go: replace --\ny\n"
	for _, c := range []struct{ name, text, want string }{
		{"nothing broken", "expects: gates\n" + change, "what is broken"},
		{"no change", "what: x\nexpects: gates\n", "changes nothing"},
		{"nobody sees it", "what: x\n" + change, "no checker"},
		{"no such checker", "what: x\nexpects: luck\n" + change, `"luck"`},
		{"no such plan", "what: x\nexpects: gates\nplan: nowhere\n" + change, "nowhere"},
		{"no such field", "what: x\ncolour: red\n" + change, "no such field"},
		{"half a change", "what: x\nexpects: gates\n-- a.go: find --\nx\n", "replace"},
	} {
		if _, err := parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	d, err := parse("what: x\nstories: fsm\n" + change)
	if err != nil || d.Arena() != "stories of fsm" || d.Faults() != nil {
		t.Errorf("a defect that stories expose: %+v, %v", d, err)
	}
}

// Outside a checkout the error says what is missing.
func TestNoSource(t *testing.T) {
	if _, err := FindSource(t.TempDir()); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("error %v, want one that names go.mod", err)
	}
}
