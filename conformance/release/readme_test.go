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
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pages that a newcomer follows. The files are links, because Go's test cache ignores files outside the module.
const (
	readmeFile  = "README.md"
	programFile = "first-program.md"
	serveFile   = "serve.md"
)

// block is a code block of a page, in the section with this heading.
type block struct{ section, language, text string }

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// blocksOf returns the blocks of a page in order, without text blocks. They show output, which other tests compare.
func blocksOf(t *testing.T, file string) (blocks []block) {
	t.Helper()
	text, fences := read(t, file), 0
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		fences++
		headings := heading.FindAllStringSubmatch(text[:m[0]], -1)
		b := block{language: text[m[2]:m[3]], text: text[m[4]:m[5]]}
		if len(headings) > 0 {
			b.section = headings[len(headings)-1][1]
		}
		require.Contains(t, []string{"sh", "go", "text"}, b.language, "no test runs this block of %s:\n%s", file, b.text)
		if b.language != "text" {
			blocks = append(blocks, b)
		}
	}
	require.NotEmpty(t, blocks)
	require.Equal(t, strings.Count(text, "```"), 2*fences, "a fence must start its line")
	return blocks
}

var heading = regexp.MustCompile(`(?m)^## (.*)$`)

// readme returns the blocks that a newcomer runs, in order: the installation, the rest of README, the first program,
// and the start of serve.
func readme(t *testing.T) (blocks []block) {
	t.Helper()
	blocks = blocksOf(t, readmeFile)
	slices.SortStableFunc(blocks, func(a, b block) int {
		switch {
		case a.section == "Install" && b.section != "Install":
			return -1
		case a.section != "Install" && b.section == "Install":
			return 1
		}
		return 0
	})
	require.Equal(t, "Install", blocks[0].section)
	blocks = append(blocks, blocksOf(t, programFile)...)
	for _, b := range blocksOf(t, serveFile) {
		if b.section == "Start the server" {
			blocks = append(blocks, b)
		}
	}
	require.Equal(t, "Start the server", blocks[len(blocks)-1].section)
	return blocks
}

// .ci/bare runs the first two commands of README.
func TestReadmeFirstCommands(t *testing.T) {
	require.Equal(t, []string{"go run ./examples/demo", "go test work"},
		linesOf(blocksOf(t, readmeFile)[0]))
	require.LessOrEqual(t, strings.Count(read(t, readmeFile), "\n"), 150, "move details of README to a page")
}

// project has the Go files of a reader at one point in README, by name.
type project map[string]string

// add applies a Go block of README. A whole file becomes main.go or main_test.go. Otherwise the functions of the block
// replace those with the same names in main.go.
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

// isFile reports whether a block is a whole file, not only functions.
func isFile(code string) bool { return strings.HasPrefix(code, "package ") }

// replaced returns a file in which the given functions replace those with the same names.
func replaced(t *testing.T, file, functions string) string {
	t.Helper()
	for name, text := range functionsOf(t, "package main\n"+functions) {
		old := functionsOf(t, file)[name]
		require.NotEmpty(t, old, "README replaces func %s, which main.go does not have", name)
		file = strings.Replace(file, old, text, 1)
	}
	return file
}

// functionsOf returns the functions of a file by name.
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

// Each page that README links to must exist.
func TestReadmeLinks(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(read(t, readmeFile), -1)
	require.Greater(t, len(links), 10)
	for _, m := range links {
		_, err := os.Stat(filepath.Join(root, m[1]))
		require.NoError(t, err)
	}
}

// Every Go block in README must be formatted and pass go vet together with the blocks before it. TestRelease also runs
// the blocks, in a separate module. Here the go command resolves the imports in this workspace, without a network.
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
	require.Equal(t, 5, steps, "README, library, stream, a backend, tests")
}

// vet writes the files and runs go vet.
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
