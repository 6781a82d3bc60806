package clichain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// No exported declaration names a type of an internal package: a program that uses it could not name that type.
func TestPublicAPIHasPublicTypes(t *testing.T) {
	for _, f := range sources(t) {
		if f.test() || strings.Contains("/"+f.dir()+"/", "/internal/") || f.ast.Name.Name == "main" {
			continue
		}
		for _, problem := range internalTypes(f.ast) {
			t.Errorf("%s: %s", f.path, problem)
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
`, 0)
	require.NoError(t, err)
	require.Equal(t, []string{
		"A names y.C", "A names z.E", "A names y.G", "K names y.L", "K names z.M", "Q names y.R", "W names y.X", "Y names y.Z",
	}, internalTypes(file))
}

// internalTypes lists the uses of internal packages in the exported declarations of a file.
func internalTypes(file *ast.File) (problems []string) {
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
			if structure, ok := n.(*ast.StructType); ok {
				for _, field := range structure.Fields.List {
					if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
						look(owner, field.Type)
					}
				}
				return false
			}
			if use, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := use.X.(*ast.Ident); ok && internal[pkg.Name] {
					problems = append(problems, owner+" names "+pkg.Name+"."+use.Sel.Name)
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
