package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Document is a plan of some arena, which says whether a run can be made of
// it.
type Document[P any] interface {
	*P
	Validate() error
}

// ReadFile reads a plan that WriteFile wrote, or that a person did.
func ReadFile(path string) (*Plan, error) { return Read[Plan](path) }

// Parse reads a plan from JSON and validates it.
func Parse(text []byte) (*Plan, error) { return Decode[Plan](text) }

// WriteFile writes the plan for people and for [ReadFile].
func (p *Plan) WriteFile(path string) error { return Write(path, p) }

// Read reads a document from a file, and validates it.
func Read[P any, D Document[P]](path string) (*P, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	p, err := Decode[P, D](text)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", path, err)
	}
	return p, nil
}

// Decode reads a document from JSON, and validates it. What it does not know is
// an error, and so is what follows it.
func Decode[P any, D Document[P]](text []byte) (*P, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	p := new(P)
	if err := d.Decode(p); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one object")
	}
	return p, D(p).Validate()
}

// Write writes a document for people and for [Read].
func Write(path string, p any) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}
