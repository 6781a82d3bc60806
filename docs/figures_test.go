// Package docs_test checks the figures of the pages. It compares counted figures with the code, and this command
// writes them:
//
//	go test ./docs -update
//
// This command writes the measured figures, with the date and the machine:
//
//	go test ./docs -run Measure -measure -timeout 60m
package docs_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/specs"
)

var update = flag.Bool("update", false, "write the figures that can be counted")

const (
	root        = ".."
	figuresPage = "docs/reference/figures.md"
)

// part matches the text between two comments of a page that name it.
var part = regexp.MustCompile(`(?s)<!-- (counted|measured)[^\n]*-->\n.*?<!-- end -->`)

// with replaces the text of a page in the part that this comment begins.
func with(t *testing.T, file, begin, text string) string {
	t.Helper()
	page := read(t, file)
	require.Contains(t, page, begin+"\n")
	return part.ReplaceAllStringFunc(page, func(old string) string {
		if !strings.HasPrefix(old, begin) {
			return old
		}
		return begin + "\n\n" + strings.TrimSpace(text) + "\n\n<!-- end -->"
	})
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	require.NoError(t, err)
	return string(text)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(file)), []byte(text), 0o644))
}

// hold compares a page with its expected text, or writes it with -update.
func hold(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		write(t, file, text)
		return
	}
	want, got := strings.Split(text, "\n"), strings.Split(read(t, file), "\n")
	for i, line := range want {
		if i >= len(got) || got[i] != line {
			t.Fatalf("%s:%d is out of date: go test ./docs -update makes it\n%s", file, i+1, line)
		}
	}
	require.Len(t, got, len(want), file)
}

// checkout skips a test if the nested modules are missing, as in the module cache.
func checkout(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, "conformance", "go.mod")); err != nil {
		t.Skip(err)
	}
}

// module counts the functions in the test files of a module by their kind.
type module map[string]int

var function = regexp.MustCompile(`(?m)^func ((Test|Fuzz|Benchmark|Example)\w*)\(`)

// counted returns the modules by directory, and the functions of all test files by name.
func counted(t *testing.T) (modules map[string]module, names map[string]bool) {
	t.Helper()
	modules, names = map[string]module{}, map[string]bool{}
	owner := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && file != "."):
			return fs.SkipDir
		case d.IsDir():
			owner[file] = owner[path.Dir(file)]
			if _, err := os.Stat(filepath.Join(root, file, "go.mod")); err == nil {
				owner[file] = file
				modules[file] = module{}
			}
		case strings.HasSuffix(file, "_test.go"):
			for _, f := range function.FindAllStringSubmatch(read(t, file), -1) {
				if names[f[1]] = true; f[1] != "TestMain" {
					modules[owner[path.Dir(file)]][f[2]]++
				}
			}
		}
		return nil
	}))
	return modules, names
}

// entries counts the files of a pattern.
func entries(t *testing.T, pattern string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	require.NoError(t, err)
	require.NotEmpty(t, found, pattern)
	return len(found)
}

// matches counts the matches of a pattern in a page.
func matches(t *testing.T, file, pattern string) int {
	t.Helper()
	found := regexp.MustCompile("(?m)"+pattern).FindAllString(read(t, file), -1)
	require.NotEmpty(t, found, pattern)
	return len(found)
}

// tables returns the tables of counts of figuresPage.
func tables(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| Module | Tests | Fuzz targets | Benchmarks | Examples |\n|---|---|---|---|---|\n")
	modules, _ := counted(t)
	for _, m := range []struct{ folder, title string }{
		{".", "the library"}, {"cmd/clichain", "`cmd/clichain`"}, {"jetstream", "`jetstream`"}, {"otel", "`otel`"}, {"hosttools", "`hosttools`"},
		{"batch", "`batch`"},
		{"conformance", "`conformance`"},
	} {
		of := modules[m.folder]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", m.title, of["Test"], of["Fuzz"], of["Benchmark"], of["Example"])
	}
	b.WriteString("\n| Other counts | |\n|---|---|\n")
	for _, row := range []struct {
		what string
		n    int
	}{
		{"reasons of failures, each with a row in [errors.md](errors.md)", len(call.Reasons())},
		{"built-in specs", len(specs.Every())},
		{"built-in specs in a chain of `specs.All()`", len(specs.All())},
		{"CLIs that are run for real, on [conformance.md](conformance.md)", realCLIs(t)},
		{"scenarios of [conformance.md](conformance.md)", scenarios(t)},
		{"recorded runs of the real CLIs", entries(t, "internal/reading/testdata/recordings/*/*")},
		{"older transcripts of the real CLIs", entries(t, "internal/reading/testdata/transcripts/*")},
		{"scripts that run the command", entries(t, "cmd/clichain/testdata/script/*")},
		{"[scenarios of fake CLIs](../how-to/test-a-spec.md#scenarios)", matches(t, "docs/how-to/test-a-spec.md", "^\\| `\\w+\\([^|]*\\)` \\|")},
		{"[fault cases](fault-cases.md)", matches(t, "docs/reference/fault-cases.md", `^\| \d+a? \|`)},
		{"[architecture decision records](../explanation/adr)", entries(t, "docs/explanation/adr/*.md")},
	} {
		fmt.Fprintf(&b, "| %s | %d |\n", row.what, row.n)
	}
	return b.String()
}

func realCLIs(t *testing.T) int {
	return matches(t, "docs/reference/conformance.md", `^\| [\w-]+ \| .*\d+ of \d+ \|$`)
}

// scenarios returns the number of scenarios in the matrix.
func scenarios(t *testing.T) int {
	t.Helper()
	rows := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllString(read(t, "docs/reference/conformance.md"), -1)
	slices.Sort(rows)
	return len(slices.Compact(rows))
}

func TestCounts(t *testing.T) {
	checkout(t)
	hold(t, figuresPage, with(t, figuresPage, "<!-- counted: go test ./docs -update -->", tables(t)))
}

// pages returns the paths of all pages below docs, except the decision records, which may name tests of their time.
func pages(t *testing.T) (list []string) {
	t.Helper()
	found, err := filepath.Glob("*/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, page := range found {
		list = append(list, "docs/"+filepath.ToSlash(page))
	}
	return list
}

// TestNamedTestsExist checks that every test, fuzz target and benchmark that a page names exists.
func TestNamedTestsExist(t *testing.T) {
	checkout(t)
	_, names := counted(t)
	for _, example := range []string{"TestLumen", "TestFallsBack", "TestSpec"} { // of the reader, and of package clitest
		names[example] = true
	}
	count := 0
	for _, page := range pages(t) {
		for _, name := range regexp.MustCompile(`\b(Test|Fuzz)[A-Z]\w+`).FindAllString(read(t, page), -1) {
			require.True(t, names[name], "%s: there is no %s", page, name)
			count++
		}
	}
	require.Greater(t, count, 300)
	measured := part.FindAllString(read(t, figuresPage), -1)
	require.Len(t, measured, 2)
	for _, row := range regexp.MustCompile("\\| `([A-Z]\\w+)[/\\w-]*` \\|").FindAllStringSubmatch(measured[1], -1) {
		require.True(t, names["Benchmark"+row[1]], "there is no Benchmark%s", row[1])
	}
}

// Every Go file that a page names, with or without its directory, exists.
func TestTheFilesOfThePagesExist(t *testing.T) {
	checkout(t)
	var files []string
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		files = append(files, "/"+file)
		return err
	}))
	goFile := regexp.MustCompile("[( `]([a-z_/]+\\.go)[)` ]")
	for _, page := range pages(t) {
		for _, named := range goFile.FindAllStringSubmatch(read(t, page), -1) {
			there := func(file string) bool { return strings.HasSuffix(file, "/"+named[1]) }
			require.True(t, slices.ContainsFunc(files, there), "%s: there is no %s", page, named[1])
		}
	}
}
