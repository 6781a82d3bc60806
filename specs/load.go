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

// The names of specs are no mistakes in SKIP_CLI, also where no backend is made
// of them.
func init() { skiplist.KnowLater(func() [][]string { return namesOf(Every()) }) }

// namesOf are the names that a list may call each spec by, its own first.
func namesOf(list []clispec.Spec) (names [][]string) {
	for _, spec := range list {
		names = append(names, []string{spec.Name, spec.InstanceOf, spec.ProviderSlug})
	}
	return names
}

// Problem is one mistake in a file of specs, or a warning about something that
// is valid and probably not intended.
type Problem struct {
	// Line and Column count from 1, in characters; 0 means the whole file.
	Line, Column int
	// Path is the field, such as "args[2].when.access[0]"; in a file with a list
	// of specs it begins with "specs[1].".
	Path    string
	Message string
	Warning bool // not a mistake
	// Err is the [*clispec.Error] if the check of a spec found the mistake; nil
	// for a mistake in the syntax of the file.
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

// Load reads specs from JSON or YAML: one spec, a list of them, or a map with
// such a list under "specs"; in YAML, each document of the file is one of
// these. An entry with "instance_of" is that built-in spec, or that spec of the
// file above it, but for what the entry says itself: at least another name.
// Unknown fields and everything that Validate finds are mistakes. All of
// them are in the returned [*LoadError]; with one, nothing is loaded. A file of
// more than 1 MiB is refused.
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

// maxProblems bounds a report: a file with more is probably no file of specs.
const maxProblems = 100

// sort puts the problems in the order of the file, and drops those above
// maxProblems.
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

// The keys of the map around the specs. Editors find the schema by the first.
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

// onlyList checks that the map around the specs has nothing but the two keys.
func (f *file) onlyList(document *specfile.Node) {
	for _, e := range document.Entries {
		switch {
		case e.Key == listKey && document.Get(listKey) != e.Value:
			f.problem(e.Place, listKey, "is there twice")
		case e.Key != listKey:
			f.problem(e.Place, e.Key, "unknown field: beside specs there can be $schema only")
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

// validate adds what Validate finds, without the consequences of mistakes that
// are already known: a missing field may be a misspelt one.
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

// join returns the path within the file of a part of the spec.
func (r root) join(path string) string {
	if r.path == "" {
		return path
	}
	return r.path + "." + path
}

// checkNames refuses two specs of one name.
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
