package repo_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// startsOrKeeps are imports with which a package can start programs, or use directories of the user.
var startsOrKeeps = []string{
	"os/exec", module, module + "/clitest", module + "/clitest/fake", module + "/conversation",
	module + "/internal/localfile", module + "/internal/proc", module + "/internal/sessionfile",
	module + "/internal/workdir", module + "/live", module + "/runs", module + "/workspace",
}

// The tests of these packages get their own home directory and temporary directory. They then share no files with the
// tests of other packages, which CI runs at the same time. Conformance tests create a home for each CLI instead.
func TestTestsHaveOwnHome(t *testing.T) {
	files := slices.DeleteFunc(sources(t), func(f *sourceFile) bool { return f.under("conformance") })
	for _, dir := range withoutOwnHome(t, files) {
		t.Errorf("the TestMain of %s must return the exit code of fake.Run(m) of clitest/fake", dir)
	}
}

func TestOwnHomeGuard(t *testing.T) {
	const imports = `import ("os"; "os/exec"; "testing"); var _ = exec.Command; `
	for body, found := range map[string][]string{
		`func TestX(t *testing.T) {}`:                                 {"p"},
		`func TestMain(m *testing.M) { os.Exit(m.Run()) }`:            {"p"},
		`func TestMain(m *testing.M) { os.Exit(fake.Run(m)) }`:        nil,
		`func TestMain(m *testing.M) { os.Exit(Run(m)) }`:             {"p"},
		`func (m own) Run() int { return clitest.Run(m.M) }`:          nil,
		`func TestMain(m *testing.M) { os.Exit(clitest.Run(own{})) }`: nil,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "p/x_test.go", "package p; "+imports+body, 0)
		require.NoError(t, err)
		require.Equal(t, found, withoutOwnHome(t, []*sourceFile{{"p/x_test.go", set, file}}), body)
	}
}

// withoutOwnHome returns the directories of the packages that have one of the imports and tests, but run them in the
// home directory of the user.
func withoutOwnHome(t *testing.T, files []*sourceFile) (dirs []string) {
	t.Helper()
	needs, tested, own := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range files {
		dir := f.dir()
		needs[dir] = needs[dir] || slices.Contains(startsOrKeeps, strings.TrimSuffix(module+"/"+dir, "/."))
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			needs[dir] = needs[dir] || slices.Contains(startsOrKeeps, name)
		}
		if f.test() {
			tested[dir], own[dir] = true, own[dir] || runsInOwnHome(f)
		}
	}
	for dir := range tested {
		if needs[dir] && !own[dir] {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// runsInOwnHome reports whether a file calls Run of clitest or clitest/fake, or Main of chaintest, which calls it.
func runsInOwnHome(f *sourceFile) (found bool) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			name := fmt.Sprint(call.Fun)
			if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
				name = fmt.Sprintf("%v.%s", selector.X, selector.Sel)
			}
			found = found || name == "fake.Run" || name == "clitest.Run" || name == "chaintest.Main" || name == "Run" && f.under("clitest")
		}
		return !found
	})
	return found
}
