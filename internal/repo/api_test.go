package repo_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// No exported declaration uses a type of an internal package or an unexported type: a program could not name it.
func TestPublicAPIHasPublicTypes(t *testing.T) {
	packages := map[string][]*ast.File{}
	for _, f := range sources(t) {
		if !f.test() && !strings.Contains("/"+f.dir()+"/", "/internal/") && f.ast.Name.Name != "main" {
			packages[f.dir()] = append(packages[f.dir()], f.ast)
		}
	}
	for dir, files := range packages {
		unexported := unexportedTypes(files)
		for _, file := range files {
			for _, problem := range unnameableTypes(file, unexported) {
				t.Errorf("%s: %s", dir, problem)
			}
		}
	}
}

// The guard finds parameters, results, exported fields and embedded types.
func TestPublicAPIGuard(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", `package p
import ( "m/internal/y"; z "m/internal/zz" )
type A struct { B y.C; d y.D; *z.E; F func(y.G) }
type h struct { I y.J }
func K(y.L) z.M { return y.N() }
func (h) O(y.P) {}
func (A) Q() y.R
var S, t = y.U, y.V
var W y.X
type Y = y.Z
type b struct{}
func AA(b int) map[string]*b { return nil }
type BB struct { CC []b; dd b; *b }
type EE interface { b(b) }
`, 0)
	require.NoError(t, err)
	require.Equal(t, []string{
		"A names y.C", "A names z.E", "A names y.G", "K names y.L", "K names z.M", "Q names y.R", "W names y.X", "Y names y.Z",
		"AA names b", "BB names b", "EE names b",
	}, unnameableTypes(file, unexportedTypes([]*ast.File{file})))
}

// unexportedTypes returns the unexported types that the files of a package declare.
func unexportedTypes(files []*ast.File) map[string]bool {
	names := map[string]bool{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && !spec.Name.IsExported() {
				names[spec.Name.Name] = true
			}
			_, function := n.(*ast.FuncDecl)
			return !function
		})
	}
	return names
}

// unnameableTypes lists the types that the exported declarations of a file use and that another package cannot name:
// those of internal packages, and the unexported ones of the package itself.
func unnameableTypes(file *ast.File, unexported map[string]bool) (problems []string) {
	internal := map[string]bool{}
	for _, spec := range file.Imports {
		if path := strings.Trim(spec.Path.Value, `"`); strings.Contains(path, "/internal/") {
			name := path[strings.LastIndexByte(path, '/')+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			internal[name] = true
		}
	}
	var look func(owner string, node ast.Node)
	look = func(owner string, node ast.Node) {
		ast.Inspect(node, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.StructType:
				for _, field := range n.Fields.List {
					embedded := len(field.Names) == 0 && !unexported[receiver(field.Type)]
					if embedded || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
						look(owner, field.Type)
					}
				}
				return false
			case *ast.Field: // field names are no types
				look(owner, n.Type)
				return false
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && internal[pkg.Name] {
					problems = append(problems, owner+" names "+pkg.Name+"."+n.Sel.Name)
				}
				return false
			case *ast.Ident:
				if unexported[n.Name] {
					problems = append(problems, owner+" names "+n.Name)
				}
			}
			return true
		})
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Name.IsExported() && (decl.Recv == nil || ast.IsExported(receiver(decl.Recv.List[0].Type))) {
				look(decl.Name.Name, decl.Type)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						look(spec.Name.Name, spec.Type)
					}
				case *ast.ValueSpec:
					if spec.Type != nil && spec.Names[0].IsExported() {
						look(spec.Names[0].Name, spec.Type)
					}
				}
			}
		}
	}
	return problems
}
