package repo_test

import (
	"fmt"
	"go/ast"
	"maps"
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

// sentence is a figure in a sentence of a page: the pattern has one group, which is the figure.
type sentence struct{ file, pattern, figure string }

// writeSentences writes the figures that sentences of pages repeat.
func writeSentences(t *testing.T) {
	t.Helper()
	for _, s := range sentences(t) {
		page := read(t, s.file)
		at := regexp.MustCompile(s.pattern).FindAllStringSubmatchIndex(page, -1)
		require.Len(t, at, 1, "%s: %s", s.file, s.pattern)
		write(t, s.file, page[:at[0][2]]+s.figure+page[at[0][3]:])
	}
}

func sentences(t *testing.T) []sentence {
	t.Helper()
	limited := regexp.MustCompile(`(?m)^\| claude at 429 \| [^|]* \| (\S+ s) \| (\S+ s) \|$`)
	early := limited.FindStringSubmatch(read(t, figuresPage))
	require.Len(t, early, 3)
	warm := regexp.MustCompile(`(?m)^\| claude [\d.]+ \| (\d+ ms) [^|]*\| (\d+ ms) `).FindStringSubmatch(read(t, "docs/how-to/live.md"))
	require.Len(t, warm, 3)
	return []sentence{
		{"README.md", `(\d+) reasons, each`, fmt.Sprint(len(call.Reasons()))},
		{"README.md", `There are (\d+ built-in specs: [^.]+)\.`, builtIn()},
		{"README.md", `claude at 429, then codex, took (\S+ s) instead of`, early[1]},
		{"README.md", `codex, took \S+ s instead of (\S+ s)\n`, early[2]},
		{"README.md", `clichain leaves (\d+) processes`, benchmark(t, "A timeout while a tool runs: processes left 3 s later", 0)},
		{"README.md", `os/exec leaves (\d+)\n`, benchmark(t, "A timeout while a tool runs: processes left 3 s later", 1)},
		{"README.md", `claude sends (\d+) bytes`, benchmark(t, "One prompt, claude: sent to the model, bytes", 0)},
		{"README.md", `bytes to the model instead of (\d+)\.`, benchmark(t, "One prompt, claude: sent to the model, bytes", 1)},
		{"README.md", `running claude takes (\d+ ms)`, warm[2]},
		{"README.md", `ms instead of (\d+ ms)`, warm[1]},
	}
}

// benchmark returns the figure in a column of the table "At a glance": 0 for clichain, 1 for os/exec.
func benchmark(t *testing.T, title string, column int) string {
	t.Helper()
	_, row, ok := strings.Cut(read(t, "docs/reference/benchmarks.md"), "\n| "+title+" | ")
	require.True(t, ok, title)
	return strings.Trim(strings.Fields(strings.Split(row, " | ")[column])[0], "*")
}

// builtIn counts the built-in specs: those that run for real, and those of CLIs that no package registry has.
func builtIn() string {
	var documented []string
	for _, spec := range specs.Every() {
		if len(spec.Packages) == 0 {
			documented = append(documented, spec.Name)
		}
	}
	every := len(specs.Every())
	return fmt.Sprintf("%d built-in specs: %d run for real, %d by documentation (%s)",
		every, every-len(documented), len(documented), strings.Join(documented, ", "))
}

// counts returns the tables of counts.
func counts(t *testing.T) string {
	t.Helper()
	kinds := []string{"Test", "Fuzz", "Benchmark", "Example"}
	modules := map[string]map[string]int{}
	for _, f := range sources(t) {
		if !f.test() {
			continue
		}
		module := moduleOf(f)
		if modules[module] == nil {
			modules[module] = map[string]int{}
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Name.Name == "TestMain" {
				continue
			}
			for _, kind := range kinds {
				if strings.HasPrefix(fn.Name.Name, kind) {
					modules[module][kind]++
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString("| Module | Tests | Fuzz targets | Benchmarks | Examples |\n|---|---|---|---|---|\n")
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		fmt.Fprintf(&b, "| `%s` |", module)
		for _, kind := range kinds {
			fmt.Fprintf(&b, " %d |", modules[module][kind])
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| Other counts | |\n|---|---|\n")
	for _, row := range [][2]string{
		{"reasons of failures, each with a row in [errors.md](errors.md)", fmt.Sprint(len(call.Reasons()))},
		{"built-in specs", fmt.Sprint(len(specs.Every()))},
		{"built-in specs in a chain of `specs.All()`", fmt.Sprint(len(specs.All()))},
		{"recorded runs of the real CLIs", entries(t, "internal/reading/testdata/*/*/*.json")},
		{"scripts that run the command", entries(t, "cmd/clichain/testdata/script/*")},
		{"[architecture decision records](../explanation/adr)", entries(t, "docs/explanation/adr/*.md")},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	return b.String()
}

// moduleOf returns the directory of the module of a file.
func moduleOf(f *sourceFile) string {
	for dir := f.dir(); ; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
}

func entries(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, found, pattern)
	return fmt.Sprint(len(found))
}
