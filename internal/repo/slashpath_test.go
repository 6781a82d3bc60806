package repo_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// slashPackages handle paths of specs and patterns, which have slashes on every system.
var slashPackages = []string{
	"clispec", "specs", "order", "internal/decode", "internal/pattern", "internal/specfile", "workspace/internal/rename",
}

// backslashCalls are the functions of path/filepath that return other separators on Windows.
var backslashCalls = []string{"Abs", "Clean", "Dir", "EvalSymlinks", "FromSlash", "Join", "Rel", "Split"}

// The paths of a spec are the same on Windows. There, filepath.Clean would give them backslashes, and a comparison with
// the path in the spec would fail.
func TestSlashPathsKeepSlashes(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range rootSources(t) {
		if !slices.Contains(slashPackages, f.dir()) || strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		seen[f.dir()] = true
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, _ := n.(*ast.SelectorExpr)
			if call == nil {
				return true
			}
			pkg, _ := call.X.(*ast.Ident)
			if pkg != nil && pkg.Name == "filepath" && slices.Contains(backslashCalls, call.Sel.Name) {
				t.Errorf("%s: filepath.%s gives a path of a spec backslashes on Windows: use package path", f.path, call.Sel.Name)
			}
			return true
		})
	}
	for _, dir := range slashPackages {
		require.True(t, seen[dir], "%s has no file", dir)
	}
}
