package repo_test

import (
	"go/ast"
	"go/token"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

// A program that imports the library does not pay at its start for what it may never call.
func TestImportsCompileNoPatterns(t *testing.T) {
	checked := 0
	for _, f := range rootSources(t) {
		if f.test() || f.dir() == "internal/prose" { // only tests import it
			continue
		}
		for _, decl := range f.ast.Decls {
			vars, ok := decl.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			ast.Inspect(vars, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false // called later
				case *ast.CallExpr:
					checked++
					if fn, ok := n.Fun.(*ast.SelectorExpr); ok && isName(fn.X, "regexp") {
						t.Errorf("%s: regexp.%s as the program starts: use pattern.Of", f.at(n.Pos()), fn.Sel.Name)
					}
				}
				return true
			})
		}
	}
	require.Greater(t, checked, 50)
}

// A dependency that does work when it is imported, like this one for milliseconds, belongs in programs that import it
// explicitly: see docs/explanation/adr/0037.
func TestOnlyFullSchemaCompilesDrafts(t *testing.T) {
	deps := func(packages ...string) string {
		out, err := exec.Command("go", append([]string{"list", "-deps"}, packages...)...).Output()
		require.NoError(t, err)
		return string(out)
	}
	const drafts, texts = "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text/message"
	others := deps(".", "./live", "./doctor", "./clitest", "./settings", "./order", "./examples/...")
	require.Contains(t, others, module+"/internal/structured")
	require.NotContains(t, others, drafts)
	require.NotContains(t, others, texts)
	require.Contains(t, strings.Fields(deps("./fullschema")), drafts)
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// Making a chain compiles no spec.
func TestMakingAChainCostsLittle(t *testing.T) {
	list := specs.All()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	chain := clichain.NewChain(list, nil)
	runtime.ReadMemStats(&after)
	require.Len(t, chain.Backends(), 5)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100_000), "bytes")
	require.Less(t, testing.AllocsPerRun(10, func() { clichain.NewChain(list, nil) }), 500.0)
}
