// Package guide_test is the code of docs/how-to/guide.md: each example is shown there without its first line, with what it
// prints, and runs here on a machine whose CLIs are fakes.
package guide_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/examples/internal/machine"
)

// ctx is the context of the examples.
var ctx = context.Background()

// clis maps names of programs to their scenarios.
type clis = map[string]clitest.Scenario

// on installs only the given CLIs on PATH. The returned func restores the machine.
func on(programs clis) (restore func()) { return machine.New(programs) }

// example is the part of an example that the page shows.
type example struct{ name, code, prints string }

// examples returns the examples of the files in this directory, in the order of the files and of their lines.
func examples(t *testing.T) (found []example) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, name := range files {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, source, parser.ParseComments)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(fn.Name.Name, "Example") {
				continue
			}
			body := string(source[set.Position(fn.Body.Lbrace).Offset+1 : set.Position(fn.Body.Rbrace).Offset])
			code, prints, ok := strings.Cut(body, "\t// Output:\n")
			require.True(t, ok, "%s prints nothing", fn.Name.Name)
			_, code, ok = strings.Cut(code, "\n\n") // after the line that sets up the machine
			require.True(t, ok, fn.Name.Name)
			found = append(found, example{fn.Name.Name, shift(code, "\t"), shift(prints, "\t// ")})
		}
	}
	require.Greater(t, len(found), 10)
	return found
}

// shift removes the indentation from the lines of a text.
func shift(text, indent string) string {
	return strings.TrimSpace(strings.ReplaceAll("\n"+text, "\n"+indent, "\n"))
}

// page returns the text of docs/how-to/guide.md or of another page.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}

// blocks returns the code blocks of a page in a language.
func blocks(page, language string) (found []string) {
	for _, part := range strings.Split(page, "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		found = append(found, block)
	}
	return found
}

// The page contains each example followed by its output, the test with fakes, the spec, and no other code.
func TestGuideShowsTheExamples(t *testing.T) {
	guide := page(t, "docs/how-to/guide.md")
	var code []string
	for _, e := range examples(t) {
		code = append(code, e.code)
		shown := "```go\n" + e.code + "\n```\n\n```text\n" + e.prints + "\n```\n"
		require.True(t, strings.Contains(guide, shown), "%s: the page should have\n%s", e.name, shown)
	}
	code = append(code, strings.TrimSpace(page(t, "examples/guide/fakes_test.go")))
	require.ElementsMatch(t, code, blocks(guide, "go"))
	require.Equal(t, []string{strings.TrimSpace(page(t, "examples/owncli/lumen.yaml"))}, blocks(guide, "yaml"))
}

// The page contains the error of the go command without cgo.
func TestRaceNeedsCgo(t *testing.T) {
	cmd := exec.Command("go", "test", "-race", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, page(t, "docs/how-to/guide.md"), "\n"+string(out))
}
