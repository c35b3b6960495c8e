package tenure_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the documents say of the repository holds: their links lead somewhere,
// their Go code is code that compiles, and the tests that they name are there.

// documents returns the text of the README and of docs, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("docs: %v, %v", paths, err)
	}
	texts := make(map[string]string)
	for _, path := range append(paths, "README.md", "CHANGELOG.md", "examples/ledger/README.md") {
		texts[path] = read(t, path)
	}
	return texts
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	goBlock  = regexp.MustCompile("(?s)```go\n(.*?)```")
	testName = regexp.MustCompile(`\b(?:Test|Fuzz|Example)[A-Z]\w+`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w+)\(`)
)

func TestLinksOfTheDocuments(t *testing.T) {
	for path, text := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			to := path
			if target != "" {
				to = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			} else if heading != "" && !hasHeading(read(t, to), heading) {
				t.Errorf("%s links to %s, which has no such heading", path, m[1])
			}
		}
	}
}

// hasHeading reports whether a document has a heading that is called so in a
// link.
func hasHeading(text, anchor string) bool {
	for _, line := range strings.Split(text, "\n") {
		title := strings.TrimLeft(line, "#")
		if title == line {
			continue
		}
		slug := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
		if strings.ReplaceAll(slug, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// Go code in the documents stands in a test file of this folder or of the
// example, which compiles and mostly runs.
func TestCodeOfTheDocuments(t *testing.T) {
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	example, err := filepath.Glob("examples/ledger/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, example...)
	var code strings.Builder
	for _, path := range paths {
		code.WriteString(read(t, path))
	}
	found := 0
	for path, text := range documents(t) {
		for _, m := range goBlock.FindAllStringSubmatch(text, -1) {
			found++
			if !strings.Contains(plain(code.String()), plain(m[1])) {
				t.Errorf("%s has code that no test has:\n%s", path, m[1])
			}
		}
	}
	if found == 0 {
		t.Error("the documents have no code")
	}
}

// plain is code without its indentation.
func plain(code string) string {
	lines := strings.Split(strings.TrimSpace(code), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

func TestTestsThatTheDocumentsName(t *testing.T) {
	there := make(map[string]bool)
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			for _, m := range testFunc.FindAllStringSubmatch(read(t, path), -1) {
				there[m[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range documents(t) {
		for _, name := range testName.FindAllString(text, -1) {
			if !there[name] {
				t.Errorf("%s names %s, which is no test", path, name)
			}
		}
	}
}
