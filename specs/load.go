package specs

import (
	"fmt"
	"io"
	"strings"

	"github.com/clichain/clichain/clispec"
)

// Problem is one mistake in a file of specs, or something in it that is legal
// and probably not meant.
type Problem struct {
	// Line and Column say where, from 1, in characters; 0 is the whole file.
	Line, Column int
	// Path is the field, such as "args[2].when.access[0]", behind "specs[1]."
	// in a file that is not just one spec.
	Path    string
	Message string
	Warning bool // not a mistake
	// Err is a [*clichain.SpecError] where the spec has been read, and means
	// nothing; else nil.
	Err error
}

// Error is "line 7:3: path: message".
func (p *Problem) Error() string {
	text := p.Message
	if p.Path != "" {
		text = p.Path + ": " + text
	}
	if p.Line > 0 {
		text = fmt.Sprintf("line %d:%d: %s", p.Line, p.Column, text)
	}
	return text
}

// Unwrap returns Err.
func (p *Problem) Unwrap() error { return p.Err }

// LoadError is all that is wrong with a file of specs.
type LoadError struct{ Problems []*Problem }

// Error has a line for each problem.
func (e *LoadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return "specs: " + strings.Join(lines, "\n")
}

// Unwrap returns the problems.
func (e *LoadError) Unwrap() []error {
	list := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		list[i] = p
	}
	return list
}

// Load reads specs from JSON or YAML: one spec, a list of them, or a map with
// such a list under "specs"; in YAML, each document of the file is one of
// these. A field that a spec does not have is a mistake, and so is all that
// Validate finds. Mistakes are gathered in a [*LoadError]; with one of them
// nothing is loaded. A file of more than 1 MiB is refused.
func Load(r io.Reader) ([]clispec.Spec, error) {
	f, err := read(r)
	if err != nil {
		return nil, err
	}
	if len(f.problems) > 0 {
		return nil, &LoadError{f.problems}
	}
	return f.specs, nil
}
