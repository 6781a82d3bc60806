package repo_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/specs"
)

const module = "github.com/clichain/clichain"

// sourceFile is one parsed Go file of the repository.
type sourceFile struct {
	path string // with slashes, relative to the root
	set  *token.FileSet
	ast  *ast.File
}

func (f *sourceFile) dir() string { return path.Dir(f.path) }

func (f *sourceFile) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// forTests reports whether only tests use the file.
func (f *sourceFile) forTests() bool { return f.test() || f.under("internal/chaintest") }

func (f *sourceFile) under(dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(f.path, dir+"/") })
}

func (f *sourceFile) at(pos token.Pos) string { return f.set.Position(pos).String() }

// parsed returns all Go files that git tracks, also those of nested modules.
var parsed = sync.OnceValues(func() (files []*sourceFile, err error) {
	list, err := exec.Command("git", "ls-files", "-z", "--", "*.go").Output()
	if err != nil {
		return nil, errNoCheckout
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.FromSlash(name), nil, parser.ParseComments)
		if os.IsNotExist(err) {
			continue // deleted, but not committed
		}
		if err != nil {
			return nil, err
		}
		files = append(files, &sourceFile{name, set, file})
	}
	return files, nil
})

var errNoCheckout = errors.New("no git checkout")

func sources(t *testing.T) []*sourceFile {
	t.Helper()
	files, err := parsed()
	if errors.Is(err, errNoCheckout) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return slices.Clone(files)
}

// rootSources returns the files of the root module.
func rootSources(t *testing.T) []*sourceFile {
	t.Helper()
	nested := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "go.mod" && name != "go.mod" {
			nested[filepath.ToSlash(filepath.Dir(name))] = true
		}
		return err
	}))
	return slices.DeleteFunc(sources(t), func(f *sourceFile) bool {
		for dir := f.dir(); dir != "."; dir = path.Dir(dir) {
			if nested[dir] {
				return true
			}
		}
		return false
	})
}

// Specs are data: no code refers to a CLI by its name.
func TestNoCodeKnowsACLI(t *testing.T) {
	var names []string
	for _, s := range specs.Every() {
		names = append(names, append([]string{s.Name, s.Binary, s.ProviderSlug, s.DefaultModel}, s.AltBinaries...)...)
	}
	for i := range names {
		names[i] = regexp.QuoteMeta(names[i])
	}
	known := regexp.MustCompile(`(?i)(^|[^\w])(` + strings.Join(names, "|") + `)($|[^\w])`)
	checked := 0
	for _, f := range sources(t) {
		if f.forTests() || f.under("specs", "cmd", "conformance", "clitest", "internal/demo") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			checked++
			text, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			// A text for people may name a CLI as an example.
			if known.MatchString(text) && !strings.Contains(text, " ") {
				t.Errorf("%s: %q is a CLI's name; it belongs into its spec", f.at(lit.Pos()), text)
			}
			return true
		})
	}
	require.Greater(t, checked, 300)
}

func TestImportsAreFew(t *testing.T) {
	allowed := []string{"github.com/hashicorp/go-multierror", "github.com/gofrs/flock", "github.com/cenkalti/backoff/v4", "github.com/tidwall/gjson", "go.yaml.in/yaml/v4", "golang.org/x/sys",
		"github.com/santhosh-tekuri/jsonschema/v6", module}
	inTests := []string{"github.com/stretchr/testify", "github.com/google/jsonschema-go", "pgregory.net/rapid",
		"github.com/anishathalye/porcupine"} // the last one checks histories of several processes
	for _, f := range rootSources(t) {
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			from := func(list []string) bool {
				return slices.ContainsFunc(list, func(m string) bool { return name == m || strings.HasPrefix(name, m+"/") })
			}
			first, _, _ := strings.Cut(name, "/")
			stdlib := !strings.Contains(first, ".")
			switch {
			case stdlib:
			case f.under("clitest/fake") && !f.test() && name != module+"/internal/fakes" && name != module+"/internal/leaks":
				t.Errorf("%s: clitest/fake imports %s: the tests of all packages use it, so it must not use them", f.at(spec.Pos()), name)
			case from(allowed), f.forTests() && from(inTests):
			default:
				t.Errorf("%s: imports %s, which is not on the list of dependencies", f.at(spec.Pos()), name)
			}
		}
	}
}

// TestImportsOfPrometheus checks that only the module of the command depends on Prometheus, also indirectly: see ADR 54.
func TestImportsOfPrometheus(t *testing.T) {
	var with []string
	for _, pattern := range []string{"go.mod", "*/go.mod", "*/*/go.mod"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			if strings.Contains(string(data), "prometheus") {
				with = append(with, filepath.ToSlash(file))
			}
		}
	}
	require.Equal(t, []string{"cmd/clichain/go.mod"}, with)
}

func TestEverythingExportedIsDocumented(t *testing.T) {
	checked := 0
	for _, f := range sources(t) {
		if f.test() {
			continue
		}
		for _, decl := range f.ast.Decls {
			for _, name := range undocumented(decl, &checked) {
				t.Errorf("%s: %s has no doc comment", f.at(name.Pos()), name.Name)
			}
		}
	}
	require.Greater(t, checked, 500)
}

// undocumented lists the exported names of a declaration without a comment. The comment of a group covers all its
// values.
func undocumented(decl ast.Decl, checked *int) (names []*ast.Ident) {
	check := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		*checked++
		if !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" }) {
			names = append(names, name)
		}
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil || ast.IsExported(receiver(decl.Recv.List[0].Type)) {
			check(decl.Name, decl.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				check(spec.Name, spec.Doc, decl.Doc)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					check(name, spec.Doc, spec.Comment, decl.Doc)
				}
			}
		}
	}
	return names
}

func receiver(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	const maxFile, maxFunc, maxLine = 300, 60, 120
	for _, f := range sources(t) {
		if ast.IsGenerated(f.ast) {
			continue
		}
		line := func(pos token.Pos) int { return f.set.Position(pos).Line }
		if n := line(f.ast.FileEnd); n > maxFile {
			t.Errorf("%s has %d lines; %d are enough", f.path, n, maxFile)
		}
		if f.test() { // a table makes a function long, and its rows contain output of CLIs
			continue
		}
		text, err := os.ReadFile(filepath.FromSlash(f.path))
		require.NoError(t, err)
		for n, l := range strings.Split(string(text), "\n") {
			if long := utf8.RuneCountInString(l); long > maxLine {
				t.Errorf("%s:%d has %d characters; %d are enough", f.path, n+1, long, maxLine)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if fn, ok := n.(*ast.FuncDecl); ok {
				if long := line(fn.End()) - line(fn.Pos()) + 1; long > maxFunc {
					t.Errorf("%s: %s has %d lines; %d are enough", f.at(fn.Pos()), fn.Name.Name, long, maxFunc)
				}
			}
			return true
		})
	}
}

// Every npm package is the one that was checked.
func TestNpmPackagesAreChecked(t *testing.T) {
	for _, folder := range []string{".", "node22", "earlier", "clients", "bench"} {
		text, err := os.ReadFile(filepath.Join("conformance", folder, "package-lock.json"))
		require.NoError(t, err)
		var lock struct {
			Packages map[string]struct{ Integrity string }
		}
		require.NoError(t, json.Unmarshal(text, &lock))
		require.Greater(t, len(lock.Packages), 10)
		require.NotContains(t, string(text), `"resolved"`, "a registry that others may not have")
		for name, p := range lock.Packages {
			if name != "" { // the root is part of this project
				require.Regexp(t, `^sha512-`, p.Integrity, name)
			}
		}
	}
}
