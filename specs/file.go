package specs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/go-multierror"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/specfile"
)

// file is what has been read of a file of specs.
type file struct {
	roots    []root
	specs    []clispec.Spec
	problems []*Problem
}

// root is where a spec is in a file.
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
		var spec clispec.Spec
		mistakes := specfile.Decode(at.node, at.path, &spec)
		f.add(mistakes)
		f.specs = append(f.specs, spec)
		f.validate(at, spec, append(mistakes, unread...))
	}
	f.checkNames()
	f.sort()
	return f, nil
}

// maxProblems bounds a report: who has more has given the wrong file.
const maxProblems = 100

// sort puts the problems in the order of the file, and leaves out what nobody
// would read.
func (f *file) sort() {
	slices.SortStableFunc(f.problems, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := len(f.problems) - maxProblems; more > 0 {
		f.problems = append(f.problems[:maxProblems], &Problem{Message: fmt.Sprintf("there are %d more", more), Warning: f.problems[0].Warning})
	}
}

func (f *file) add(mistakes []specfile.Mistake) {
	for _, m := range mistakes {
		f.problems = append(f.problems, &Problem{Line: m.Line, Column: m.Column, Path: m.Path, Message: m.Problem})
	}
}

// Keys of the map around the specs. An editor finds the schema by the first.
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

// onlyList checks a map that has the list of the specs.
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

// validate adds what Validate finds, but for what follows from mistakes that
// are known: a field that is missing may just be misspelt.
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

// join is the path of a part of the spec within the file.
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
			f.problem(f.roots[i].node.Find("name", ""), f.roots[i].join("name"), fmt.Sprintf("%q is the name of %s already", spec.Name, f.roots[j].path))
			continue
		}
		first[spec.Name] = i
	}
}
