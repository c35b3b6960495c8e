package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Module is the module whose source the defects are planted in.
const Module = "example.com/tenure"

// A Source is the tree of the module's source.
type Source struct{ root string }

// FindSource finds the source at or above a folder.
func FindSource(dir string) (*Source, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module "+Module+"\n") {
			return &Source{root: at}, nil
		}
		if filepath.Dir(at) == at {
			return nil, fmt.Errorf("no go.mod of module %s at or above %s: defects are planted in the source, so run this inside a checkout of it", Module, dir)
		}
	}
}

// Plant returns the files that the defect changes, by their paths in the tree,
// as they are with the defect. It fails if a text to find does not stand in its
// file exactly once, with the changes before it made.
func (s *Source) Plant(d *Defect) (map[string]string, error) {
	changed := make(map[string]string)
	for _, c := range d.Changes {
		file := filepath.Join(s.root, filepath.FromSlash(c.File))
		text, ok := changed[file]
		if !ok {
			read, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("defect %s no longer fits: %w", d.Name, err)
			}
			text = string(read)
		}
		if n := strings.Count(text, c.Find); n != 1 {
			return nil, fmt.Errorf("defect %s no longer fits: %s has %d times what must be there once:\n%s", d.Name, c.File, n, c.Find)
		}
		changed[file] = strings.Replace(text, c.Find, c.Replace, 1)
	}
	return changed, nil
}

// Build builds the harness with a defect, or without one for nil, in a folder,
// and returns the binary's path.
func (s *Source) Build(ctx context.Context, d *Defect, dir string) (string, error) {
	// What a debugger needs is most of the time that linking takes.
	return s.build(ctx, d, dir, "jepsen-lite", "build", "-buildvcs=false", "-ldflags=-w", "./cmd/jepsen-lite")
}

// BuildStories likewise builds the tests of a package.
func (s *Source) BuildStories(ctx context.Context, folder string, d *Defect, dir string) (string, error) {
	return s.build(ctx, d, dir, "stories", "test", "-c", "-ldflags=-w", "./"+folder)
}

// build runs a command of go that makes a binary of the package that is its last
// argument.
func (s *Source) build(ctx context.Context, d *Defect, dir, name string, args ...string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	binary, last := filepath.Join(dir, name), len(args)-1
	flags := append(slices.Clone(args[:last]), "-o", binary)
	if d != nil {
		overlay, err := s.overlay(d, dir)
		if err != nil {
			return "", err
		}
		flags = append(flags, "-overlay", overlay)
	}
	build := exec.CommandContext(ctx, "go", append(flags, args[last])...)
	build.WaitDelay = time.Second
	build.Dir = s.root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(build.Args[1:], " "), err, out)
	}
	return binary, nil
}

// overlay writes the changed files into the folder and returns the path of the
// list of them that go build takes.
func (s *Source) overlay(d *Defect, dir string) (string, error) {
	changed, err := s.Plant(d)
	if err != nil {
		return "", err
	}
	replace := make(map[string]string)
	for file, text := range changed {
		relative, err := filepath.Rel(s.root, file)
		if err != nil {
			return "", err
		}
		to := filepath.Join(dir, "source", relative)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		if replace[file], err = filepath.Abs(to); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(dir, "overlay.json"))
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, list, 0o644)
}
