package repo_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// shapeLimits are the limits of one package. References are uses of a name that another file of the package declares.
// A circle is a set of files that use each other. Methods are counted for each type. Tests do not count.
type shapeLimits struct{ files, lines, references, circle, methods int }

// The limits of all packages, and stricter limits of some.
var (
	usualLimits   = shapeLimits{files: 30, lines: math.MaxInt, references: math.MaxInt, circle: 10, methods: 40}
	specialLimits = map[string]shapeLimits{
		module:                   {files: 30, lines: math.MaxInt, references: 800, circle: 10, methods: 40},
		module + "/cmd/clichain": {files: 4, lines: 300, references: math.MaxInt},
	}
)

// packageShape is the measured shape of one package.
type packageShape struct {
	path       string
	files      int
	lines      int
	references int      // uses of names that another file of the package declares
	circle     []string // the largest set of files that all reach each other
	methods    int      // of the type with the most methods
	owner      string   // that type
}

// problems lists the limits that the package exceeds.
func (s *packageShape) problems() (problems []string) {
	add := func(format string, args ...any) {
		problems = append(problems, s.path+": "+fmt.Sprintf(format, args...))
	}
	limits, ok := specialLimits[s.path]
	if !ok {
		limits = usualLimits
	}
	if s.files > limits.files {
		add("%d files; at most %d", s.files, limits.files)
	}
	if s.lines > limits.lines {
		add("%d lines; at most %d", s.lines, limits.lines)
	}
	if s.references > limits.references {
		add("%d references between files; at most %d", s.references, limits.references)
	}
	if n := len(s.circle); n > limits.circle {
		add("a circle of %d files; at most %d: %s", n, limits.circle, strings.Join(s.circle, " "))
	}
	if s.methods > limits.methods {
		add("%s has %d methods; at most %d", s.owner, s.methods, limits.methods)
	}
	return problems
}

func TestPackagesHaveAShape(t *testing.T) {
	shapes := packageShapes(t)
	require.Greater(t, len(shapes), 50)
	for _, s := range shapes {
		t.Logf("%-55s %2d files, %4d lines, %4d references, circle %2d, %2d methods (%s)",
			s.path, s.files, s.lines, s.references, len(s.circle), s.methods, s.owner)
		for _, problem := range s.problems() {
			t.Error(problem)
		}
	}
}

// The guard finds a circle, and its cause, in a package of three files.
func TestPackageShapeGuard(t *testing.T) {
	shape := shapeOf(t, "m/p", importer.Default(), map[string]string{
		"a.go": "package p\ntype A struct{ next *B }\nfunc (A) One() {}\nfunc (*A) Two() { c() }\n",
		"b.go": "package p\ntype B struct{ A }\nfunc (B) Three() {}\n",
		"c.go": "package p\nfunc c() { new(B).next.Three() }\n",
		"d.go": "package p\nfunc d() { c() }\n",
	})
	require.Equal(t, []string{"a.go", "b.go", "c.go"}, shape.circle)
	require.Equal(t, 4, shape.files)
	require.Equal(t, 4+3+2+2, shape.lines)
	require.Equal(t, 7, shape.references, "B, c, A, B, next, Three, c")
	require.Equal(t, "A", shape.owner)
	require.Equal(t, 2, shape.methods)
	require.Empty(t, shape.problems())
	large := packageShape{path: "m/p", files: 31, circle: make([]string, 11), methods: 41, owner: "A"}
	require.Len(t, large.problems(), 3)
	root := packageShape{path: module, references: 801}
	require.Len(t, root.problems(), 1)
	command := packageShape{path: module + "/cmd/clichain", files: 5, lines: 301, circle: make([]string, 2), methods: 1}
	require.Len(t, command.problems(), 4)
}

// packageShapes measures all packages of the workspace.
var packageShapes = func() func(*testing.T) []*packageShape {
	measure := sync.OnceValues(measurePackages)
	return func(t *testing.T) []*packageShape {
		t.Helper()
		sources(t) // skips without a checkout
		shapes, err := measure()
		require.NoError(t, err)
		return shapes
	}
}()

// listedPackage is an entry of go list.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Main bool }
}

func measurePackages() (shapes []*packageShape, err error) {
	out, err := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,Module", "work").Output()
	if err != nil {
		return nil, err
	}
	var own []listedPackage
	exports := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main {
			own = append(own, p)
		}
	}
	set := token.NewFileSet()
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range own {
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files = append(files, file)
		}
		shape, err := measureShape(p.ImportPath, set, files, from)
		if err != nil {
			return nil, err
		}
		shapes = append(shapes, shape)
	}
	return shapes, nil
}

// shapeOf measures a package from its sources.
func shapeOf(t *testing.T, path string, from types.Importer, sources map[string]string) *packageShape {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for name, text := range sources {
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	shape, err := measureShape(path, set, files, from)
	require.NoError(t, err)
	return shape
}

func measureShape(path string, set *token.FileSet, files []*ast.File, from types.Importer) (*packageShape, error) {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: from}).Check(path, set, files, &info)
	if err != nil {
		return nil, err
	}
	s := &packageShape{path: path, files: len(files)}
	fileOf := func(pos token.Pos) string { return filepath.Base(set.Position(pos).Filename) }
	for _, file := range files {
		s.lines += set.File(file.Pos()).LineCount()
	}
	uses := map[string]map[string]bool{}
	for name, object := range info.Uses {
		if object.Pkg() != pkg || !object.Pos().IsValid() {
			continue
		}
		user, owner := fileOf(name.Pos()), fileOf(object.Pos())
		if user == owner {
			continue
		}
		s.references++
		if uses[user] == nil {
			uses[user] = map[string]bool{}
		}
		uses[user][owner] = true
	}
	s.circle = largestCircle(uses)
	for _, name := range pkg.Scope().Names() {
		object, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() {
			continue
		}
		if named, ok := object.Type().(*types.Named); ok && named.NumMethods() > s.methods {
			s.methods, s.owner = named.NumMethods(), name
		}
	}
	return s, nil
}

// largestCircle returns the largest set of nodes that all reach each other.
func largestCircle(uses map[string]map[string]bool) (largest []string) {
	reach := map[string]map[string]bool{}
	for from := range uses {
		seen, open := map[string]bool{}, []string{from}
		for len(open) > 0 {
			node := open[0]
			open = open[1:]
			for next := range uses[node] {
				if !seen[next] {
					seen[next] = true
					open = append(open, next)
				}
			}
		}
		reach[from] = seen
	}
	for node := range reach {
		var circle []string
		for other := range reach[node] {
			if reach[other][node] {
				circle = append(circle, other)
			}
		}
		slices.Sort(circle)
		if c := cmp.Compare(len(circle), len(largest)); c > 0 || c == 0 && slices.Compare(circle, largest) < 0 {
			largest = circle
		}
	}
	return largest
}
