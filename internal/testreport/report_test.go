package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest/fake"
)

func TestMain(m *testing.M) { os.Exit(fake.Run(m)) }

// reported returns what the program prints for lines of go test -json, and its error.
func reported(t *testing.T, lines ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	r := newReport(&out)
	require.NoError(t, r.read(strings.NewReader(strings.Join(lines, "\n"))))
	err := r.end()
	return out.String(), err
}

var (
	passed  = []string{`{"Action":"run","Package":"p","Test":"TestA"}`, `{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}`, `{"Action":"pass","Package":"p","Test":"TestA"}`}
	skipped = []string{`{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: git is not installed: x\n"}`, `{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}`, `{"Action":"skip","Package":"p","Test":"TestB"}`}
	ended   = []string{`{"Action":"output","Package":"p","Output":"PASS\n"}`, `{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}`, `{"Action":"pass","Package":"p"}`, `{"Action":"skip","Package":"without tests"}`}
)

func TestReport(t *testing.T) {
	out, err := reported(t, append(append(passed, skipped...), ended...)...)
	require.NoError(t, err)
	require.Equal(t, "ok  \tp\t0.1s\n2 tests, 1 of them skipped for want of: git 1\n", out)
}

func TestReportOfFailures(t *testing.T) {
	out, err := reported(t, append(passed,
		`{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: wrong\n"}`, `{"Action":"fail","Package":"p","Test":"TestC"}`,
		`{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}`, `{"Action":"fail","Package":"p"}`,
		`{"Action":"build-output","ImportPath":"q","Output":"q.go:1: undefined: x\n"}`, `{"Action":"build-fail","ImportPath":"q"}`,
		"go: a message", "",
	)...)
	require.EqualError(t, err, "a test failed")
	require.Equal(t, "    c_test.go:9: wrong\nFAIL\tp\t0.1s\nq.go:1: undefined: x\ngo: a message\n2 tests, 0 of them skipped for want of: \n", out)
}

func TestReportOfUnknownSkip(t *testing.T) {
	_, err := reported(t, `{"Action":"output","Package":"p","Test":"TestD","Output":"    d_test.go:7: too tired\n"}`, `{"Action":"skip","Package":"p","Test":"TestD"}`)
	require.ErrorContains(t, err, `p TestD: "too tired"`)
	_, err = reported(t, `{"Action":"skip","Package":"p","Test":"TestD"}`)
	require.ErrorContains(t, err, `p TestD: ""`)
}

func TestReportOfNothing(t *testing.T) {
	_, err := reported(t)
	require.ErrorContains(t, err, "no test ran")
}

// Each skip with a constant text has a known cause, on any machine.
func TestConstantSkipsHaveCauses(t *testing.T) {
	list, err := exec.Command("git", "-C", "../..", "ls-files", "-z", "--", "*.go").Output()
	if err != nil {
		t.Skip("no git checkout")
	}
	seen := 0
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", name), nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok || len(c.Args) == 0 {
				return true
			}
			s, ok := c.Fun.(*ast.SelectorExpr)
			if !ok || s.Sel.Name != "Skip" && s.Sel.Name != "Skipf" {
				return true
			}
			if lit, ok := c.Args[0].(*ast.BasicLit); ok {
				text, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				seen++
				assert.NotEmpty(t, causeOf(text), "%s: t.Skip(%q)", name, text)
			}
			return true
		})
	}
	require.Positive(t, seen)
}
