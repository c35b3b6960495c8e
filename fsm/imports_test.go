package fsm

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed are the packages that the state machine may import: none of them
// knows a clock, chance, a disk, a network, another goroutine or Raft. (Of time
// only Duration may be used.)
var allowed = []string{
	"bytes", "encoding/binary", "errors", "fmt", "hash/crc32", "io", "math", "math/bits", "slices", "time",
	"example.com/tenure",
}

// allowedOf are the names that may be used of packages which also hold what a
// pure function must not touch.
var allowedOf = map[string][]string{
	"time": {"Duration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"},
	"fmt":  {"Errorf", "Sprint", "Sprintf"},
	"io":   {"Reader", "Writer", "EOF", "ReadAtLeast"},
}

// TestTheStateMachineIsPure parses the package. The same log must give the same
// state everywhere and at any time, so nothing may get in from outside.
func TestTheStateMachineIsPure(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, complaint := range impurities(file) {
			t.Errorf("%s: %s", name, complaint)
		}
		looked++
	}
	if looked < 20 {
		t.Errorf("only %d files were found", looked)
	}
}

// TestImpuritiesAreFound: the test above can fail.
func TestImpuritiesAreFound(t *testing.T) {
	for source, want := range map[string]string{
		`import "math/rand"`:                                        `imports math/rand`,
		`import "sync"`:                                             `imports sync`,
		`import "os"`:                                               `imports os`,
		`import "github.com/hashicorp/raft"`:                        `imports github.com/hashicorp/raft`,
		`import clock "time"; var t = clock.Now()`:                  `imports time as clock`,
		`import . "time"`:                                           `imports time as .`,
		`import "time"; var t = time.Now()`:                         `uses time.Now`,
		`import "fmt"; func f() { fmt.Println() }`:                  `uses fmt.Println`,
		`func f() { go f() }`:                                       `starts a goroutine`,
		`var c chan int`:                                            `has a channel`,
		`var m map[int]int; func f() { for range m {} }`:            `has a map`,
		`import "time"; const s, d = time.Second, time.Duration(1)`: ``,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(impurities(file), ", "); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}

func impurities(file *ast.File) []string {
	var out []string
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if !slices.Contains(allowed, path) {
			out = append(out, "imports "+path)
		}
		if spec.Name != nil {
			out = append(out, "imports "+path+" as "+spec.Name.Name)
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok {
				if names, limited := allowedOf[pkg.Name]; limited && !slices.Contains(names, n.Sel.Name) {
					out = append(out, "uses "+pkg.Name+"."+n.Sel.Name)
				}
			}
		case *ast.GoStmt:
			out = append(out, "starts a goroutine")
		case *ast.ChanType:
			out = append(out, "has a channel")
		case *ast.MapType:
			out = append(out, "has a map") // their order is random
		}
		return true
	})
	return out
}
