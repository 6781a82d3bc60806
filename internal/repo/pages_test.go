package repo_test

import (
	"flag"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the tables of pages that come from the code")

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
	text, err := os.ReadFile(filepath.FromSlash(file))
	require.NoError(t, err)
	return string(text)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.FromSlash(file), []byte(text), 0o644))
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
			t.Fatalf("%s:%d is out of date: go test ./internal/repo -update makes it\n%s", file, i+1, line)
		}
	}
	require.Len(t, got, len(want), file)
}

// checkout skips a test if the nested modules are missing, as in the module cache.
func checkout(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("conformance/go.mod"); err != nil {
		t.Skip(err)
	}
}

// pages returns the paths of all pages below docs, except the decision records, which may name tests of their time.
func pages(t *testing.T) (list []string) {
	t.Helper()
	found, err := filepath.Glob("docs/*/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, page := range found {
		list = append(list, filepath.ToSlash(page))
	}
	return list
}

// testFunctions returns the names of all tests, fuzz targets, benchmarks and examples.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, f := range sources(t) {
		if f.test() {
			for _, name := range functionsOf(f) {
				names[name] = true
			}
		}
	}
	return names
}

// functionsOf returns the names of the functions of a file.
func functionsOf(f *sourceFile) (names []string) {
	for _, decl := range f.ast.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
			names = append(names, fn.Name.Name)
		}
	}
	return names
}

// TestNamedTestsExist checks that every test, fuzz target and benchmark that a page names exists.
func TestNamedTestsExist(t *testing.T) {
	checkout(t)
	names := testFunctions(t)
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
	require.Positive(t, count)
	measured := part.FindString(read(t, figuresPage))
	for _, row := range regexp.MustCompile("\\| `([A-Z]\\w+)[/\\w-]*` \\|").FindAllStringSubmatch(measured, -1) {
		require.True(t, names["Benchmark"+row[1]], "there is no Benchmark%s", row[1])
	}
}

// Every Go file that a page names, with or without its directory, exists.
func TestTheFilesOfThePagesExist(t *testing.T) {
	checkout(t)
	var files []string
	require.NoError(t, fs.WalkDir(os.DirFS("."), ".", func(file string, d fs.DirEntry, err error) error {
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
