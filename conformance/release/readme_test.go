package release_test

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmeFile is a link to it: of files outside its module a test result in Go's cache knows nothing.
const readmeFile = "README.md"

// block is a code block of README.
type block struct{ language, text string }

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// readme are the blocks in their order. One of another language than these two would not be tested.
func readme(t *testing.T) (blocks []block) {
	t.Helper()
	text := read(t, readmeFile)
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		require.Contains(t, []string{"sh", "go"}, m[1], "nothing tests this block of README:\n%s", m[2])
		blocks = append(blocks, block{m[1], m[2]})
	}
	require.NotEmpty(t, blocks)
	require.Equal(t, strings.Count(text, "```"), 2*len(blocks), "a block that does not begin its line is not found")
	return blocks
}

// project is the Go files that a reader has at a place in README, by their names.
type project map[string]string

// add does what README tells at a block of Go: a whole file is main.go, or its tests; functions take the place of those
// of their names in main.go.
func (p project) add(t *testing.T, code string) {
	t.Helper()
	if !isFile(code) {
		p["main.go"] = replaced(t, p["main.go"], code)
		return
	}
	name := "main.go"
	if strings.Contains(code, "\t\"testing\"\n") {
		name = "main_test.go"
	}
	p[name] = code
}

// isFile tells a whole file from functions for one.
func isFile(code string) bool { return strings.HasPrefix(code, "package ") }

// replaced is a file with other functions in the place of those of their names.
func replaced(t *testing.T, file, functions string) string {
	t.Helper()
	for name, text := range functionsOf(t, "package main\n"+functions) {
		old := functionsOf(t, file)[name]
		require.NotEmpty(t, old, "main.go has no func %s that README could replace", name)
		file = strings.Replace(file, old, text, 1)
	}
	return file
}

// functionsOf are the functions of a file by their names.
func functionsOf(t *testing.T, source string) map[string]string {
	t.Helper()
	found := map[string]string{}
	file, err := parser.ParseFile(token.NewFileSet(), "", source, parser.ParseComments)
	require.NoError(t, err, "%s", source)
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			found[fn.Name.Name] = source[fn.Pos()-1 : fn.End()-1]
		}
	}
	return found
}

func (p project) write(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for name, text := range p {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

// Each page that README leads to is there.
func TestReadmeLinks(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(read(t, readmeFile), -1)
	require.Greater(t, len(links), 10)
	for _, m := range links {
		_, err := os.Stat(filepath.Join(root, m[1]))
		require.NoError(t, err)
	}
}

// Every block of Go in README is formatted and passes go vet after the blocks before it. TestRelease also runs them, in a
// module of their own. Here the go command resolves their imports in this workspace, without a network.
func TestReadmeCompiles(t *testing.T) {
	dir, code, steps := t.TempDir(), project{}, 0
	for _, b := range readme(t) {
		if b.language != "go" {
			continue
		}
		formatted, err := format.Source([]byte(b.text))
		require.NoError(t, err, "%s", b.text)
		require.Equal(t, string(formatted), b.text)
		code.add(t, b.text)
		steps++
		code.vet(t, filepath.Join(dir, fmt.Sprint("step", steps)))
	}
	require.Equal(t, 4, steps, "library, stream, a backend, tests")
}

// vet runs go vet on the files.
func (p project) vet(t *testing.T, dir string) {
	t.Helper()
	p.write(t, dir)
	args := []string{"vet"}
	for name := range p {
		args = append(args, filepath.Join(dir, name))
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
