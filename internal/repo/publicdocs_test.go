package repo_test

import (
	"go/ast"
	"go/doc"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPublicPackagesHaveExamples checks that each package has an example that go test runs.
func TestPublicPackagesHaveExamples(t *testing.T) {
	public, tests := map[string]bool{}, map[string][]*ast.File{}
	for _, f := range sources(t) {
		switch private := f.under("examples", "conformance", "tools", "docs") || slices.Contains(strings.Split(f.path, "/"), "internal"); {
		case private:
		case f.test():
			tests[f.dir()] = append(tests[f.dir()], f.ast)
		case f.dir() == "clitest/fake": // clitest has examples of its types
		case f.ast.Name.Name != "main" && exports(f.ast):
			public[f.dir()] = true
		}
	}
	require.Greater(t, len(public), 10)
	for dir := range public {
		runs := func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput }
		if !slices.ContainsFunc(doc.Examples(tests[dir]...), runs) {
			t.Errorf("%s has no Example with an Output comment", dir)
		}
	}
}

// exports reports whether a file declares an exported function or type.
func exports(f *ast.File) bool {
	return slices.ContainsFunc(f.Decls, func(decl ast.Decl) bool {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			return decl.Name.IsExported()
		case *ast.GenDecl:
			return slices.ContainsFunc(decl.Specs, func(s ast.Spec) bool {
				typ, ok := s.(*ast.TypeSpec)
				return ok && typ.Name.IsExported()
			})
		}
		return false
	})
}

// TestAliasesAreDocumented checks that "go doc" of an alias tells what the type holds, because the declaration only
// shows the name of another package.
func TestAliasesAreDocumented(t *testing.T) {
	fields, aliases := map[string][]string{}, 0
	for _, f := range sources(t) {
		if f.dir() == "call" || f.dir() == "clispec" {
			for name, typ := range typeSpecs(f.ast) {
				fields[f.dir()+"."+name] = fieldNames(typ.Type)
			}
		}
	}
	for _, f := range sources(t) {
		if f.dir() != "." || f.test() {
			continue
		}
		for name, typ := range typeSpecs(f.ast) {
			target, ok := typ.Type.(*ast.SelectorExpr)
			if !typ.Assign.IsValid() || !ok {
				continue
			}
			aliases++
			text := strings.Join(strings.Fields(typ.Doc.Text()), " ")
			require.True(t, strings.HasPrefix(text, name+" "), "the comment of %s starts with its name", name)
			require.Contains(t, text, "zero value", name)
			require.Regexp(t, `plain value|concurrent|It is a string|It is an integer`, text, name)
			own := fields[target.X.(*ast.Ident).Name+"."+target.Sel.Name]
			named := slices.DeleteFunc(slices.Clone(own), func(field string) bool {
				return !regexp.MustCompile(`\b` + field + `\b`).MatchString(text)
			})
			require.GreaterOrEqual(t, len(named), min(len(own), 3), "the comment of %s names its main fields", name)
		}
	}
	require.Greater(t, aliases, 10)
}

// typeSpecs returns the types of a file by name. A type without a comment has that of its declaration.
func typeSpecs(f *ast.File) map[string]*ast.TypeSpec {
	found := map[string]*ast.TypeSpec{}
	for _, decl := range f.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range group.Specs {
			if typ, ok := s.(*ast.TypeSpec); ok {
				if typ.Doc == nil && !group.Lparen.IsValid() {
					typ.Doc = group.Doc
				}
				found[typ.Name.Name] = typ
			}
		}
	}
	return found
}

// fieldNames returns the exported fields of a struct type.
func fieldNames(typ ast.Expr) (names []string) {
	s, ok := typ.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, field := range s.Fields.List {
		for _, name := range field.Names {
			if name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}
