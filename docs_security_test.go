package clichain_test

import (
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every test that the page on security names exists, and every CLI has its row.
func TestSecurityPage(t *testing.T) {
	text, err := os.ReadFile("docs/security.md")
	require.NoError(t, err)
	files, err := parsed()
	require.NoError(t, err)
	tests := map[string]bool{}
	for _, f := range files {
		if f.test() {
			for _, decl := range f.ast.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok {
					tests[fn.Name.Name] = true
				}
			}
		}
	}
	named := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(named), 30)
	for _, name := range named {
		require.True(t, tests[name[1]], "there is no %s", name[1])
	}
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "pi", "kilo", "cursor-agent"} {
		require.Equal(t, 2, strings.Count(string(text), "\n| "+name+" |"), name)
	}
}
