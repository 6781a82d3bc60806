package specs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/skiplist"
	"github.com/clichain/clichain/internal/specfile"
	"github.com/hashicorp/go-multierror"
)

// The names of all specs are valid in SKIP_CLI, even if the program makes no backends of them.
func init() { skiplist.KnowLater(func() [][]string { return namesOf(Every()) }) }

// namesOf returns the names by which a list can refer to each spec, its own name first.
func namesOf(list []clispec.Spec) (names [][]string) {
	for _, spec := range list {
		names = append(names, []string{spec.Name, spec.InstanceOf, spec.ProviderSlug})
	}
	return names
}

// Problem is one mistake in a file of specs, or a warning about a valid but probably unintended value.
type Problem struct {
	// Line and Column start at 1 and count characters. 0 means the whole file.
	Line, Column int
	// Path is the field, such as "args[2].when.access[0]". In a file with a list of specs it starts with "specs[1].".
	Path    string
	Message string
	Warning bool // not a mistake
	// Err is the [*clispec.Error] if the validation of a spec found the mistake. It is nil for a syntax error.
	Err error
}

// Error returns "line 7:3: path: message".
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

// LoadError has all mistakes in a file of specs.
type LoadError struct{ Problems []*Problem }

// Error returns one line for each problem.
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

// Load reads specs from JSON or YAML: one spec, a list of specs, or a map with such a list under "specs". In YAML, the
// file may have several such documents. An entry with "instance_of" is a copy of that built-in or earlier spec, with
// the fields that the entry sets. It must set another name. Unknown fields and all problems that Validate finds are
// mistakes. Load returns them together as a [*LoadError] and then returns no specs. The file may have at most 1 MiB.
func Load(r io.Reader) ([]clispec.Spec, error) {
	f, err := read(r)
	if err != nil {
		return nil, err
	}
	if len(f.problems) > 0 {
		return nil, &LoadError{f.problems}
	}
	for _, names := range namesOf(f.specs) {
		skiplist.Know(names[0], names[1:]...)
	}
	return f.specs, nil
}

// file is the parsed content of a file of specs.
type file struct {
	roots    []root
	specs    []clispec.Spec
	problems []*Problem
}

// root is the position of a spec in a file.
type root struct {
	node *specfile.Node
	path string
}

func read(r io.Reader) (*file, error) {
	data, err := io.ReadAll(io.LimitReader(r, specfile.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("specs: %w", err)
	}
	f := &file{}
	documents, unread := specfile.Parse(data)
	f.add(unread)
	if len(documents) == 0 && len(unread) == 0 {
		f.problems = append(f.problems, &Problem{Message: "the file is empty: it has no spec"})
	}
	for _, document := range documents {
		f.collect(document, len(documents) == 1)
	}
	for _, at := range f.roots {
		spec, mistakes := f.base(at)
		mistakes = append(mistakes, specfile.Decode(at.node, at.path, &spec)...)
		f.add(mistakes)
		f.specs = append(f.specs, spec)
		f.validate(at, spec, append(mistakes, unread...))
	}
	f.checkNames()
	f.sort()
	return f, nil
}

// maxProblems limits a report. A file with more problems is probably not a file of specs.
const maxProblems = 100

// sort sorts the problems by position, and drops those above maxProblems.
func (f *file) sort() {
	slices.SortStableFunc(f.problems, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := len(f.problems) - maxProblems; more > 0 {
		last := &Problem{Message: fmt.Sprintf("there are %d more", more), Warning: f.problems[0].Warning}
		f.problems = append(f.problems[:maxProblems], last)
	}
}

func (f *file) add(mistakes []specfile.Mistake) {
	for _, m := range mistakes {
		f.problems = append(f.problems, &Problem{Line: m.Line, Column: m.Column, Path: m.Path, Message: m.Problem})
	}
}

// The keys of a map that has a list of specs. Editors use the first to find the schema.
const (
	schemaKey = "$schema"
	listKey   = "specs"
)

// collect finds the specs of a document.
func (f *file) collect(document *specfile.Node, alone bool) {
	isSchema := func(e specfile.Entry) bool { return e.Key == schemaKey }
	document.Entries = slices.DeleteFunc(document.Entries, isSchema)
	list := document.Get(listKey)
	switch {
	case document.Kind == specfile.List:
		list = document
	case list == nil && alone:
		f.roots = append(f.roots, root{document, ""})
		return
	case list == nil:
		list = &specfile.Node{Kind: specfile.List, Items: []*specfile.Node{document}}
	default:
		f.onlyList(document)
	}
	for _, item := range list.Items {
		f.roots = append(f.roots, root{item, fmt.Sprintf("%s[%d]", listKey, len(f.roots))})
	}
}

// onlyList checks that the map has no other keys than these two.
func (f *file) onlyList(document *specfile.Node) {
	for _, e := range document.Entries {
		switch {
		case e.Key == listKey && document.Get(listKey) != e.Value:
			f.problem(e.Place, listKey, "is set twice")
		case e.Key != listKey:
			f.problem(e.Place, e.Key, "unknown field: only specs and $schema are valid")
		case e.Value.Kind != specfile.List:
			f.problem(e.Value.Place, listKey, "must be a list")
		}
	}
}

func (f *file) problem(at specfile.Place, path, message string) *Problem {
	p := &Problem{Line: at.Line, Column: at.Column, Path: path, Message: message}
	f.problems = append(f.problems, p)
	return p
}

// validate adds the problems that Validate finds, without those that known mistakes cause: a missing field may be a
// misspelled one.
func (f *file) validate(at root, spec clispec.Spec, known []specfile.Mistake) {
	found, ok := errors.AsType[*multierror.Error](spec.Validate())
	if !ok {
		return
	}
	for _, err := range found.Errors {
		mistake, ok := errors.AsType[*clispec.Error](err)
		if !ok || len(known) > 0 && (mistake.Value == "" || f.within(at, mistake.Path, known)) {
			continue
		}
		message := strings.TrimPrefix(mistake.Error(), mistake.Path+": ")
		f.problem(at.node.Find(mistake.Path, mistake.Value), at.join(mistake.Path), message).Err = mistake
	}
}

func (f *file) within(at root, path string, known []specfile.Mistake) bool {
	return slices.ContainsFunc(known, func(m specfile.Mistake) bool { return specfile.Within(m.Path, at.join(path)) })
}

// join returns the path in the file of a field of the spec.
func (r root) join(path string) string {
	if r.path == "" {
		return path
	}
	return r.path + "." + path
}

// checkNames reports specs with the same name.
func (f *file) checkNames() {
	first := map[string]int{}
	for i, spec := range f.specs {
		if spec.Name == "" {
			continue
		}
		if j, taken := first[spec.Name]; taken {
			message := fmt.Sprintf("%q is the name of %s already", spec.Name, f.roots[j].path)
			f.problem(f.roots[i].node.Find("name", ""), f.roots[i].join("name"), message)
			continue
		}
		first[spec.Name] = i
	}
}
