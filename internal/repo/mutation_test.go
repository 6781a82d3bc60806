package repo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/chaintest"
)

// sampleTable is a .ci/mutation.tsv: the package a was measured with 3 killed mutants of 4.
const sampleTable = "score\ta\t3\t4\n" +
	"survivor\ta/a.go\tCONDITIONALS_BOUNDARY\tif n > 0 {\tn is never 0\n" +
	"score\tab\t1\t1\n"

// sampleCode has a comparison in the lines 4 and 7, and the same text in both.
const sampleCode = "package a\n\nfunc f(n int) {\n\tif n > 0 {\n\t\tf(0)\n\t}\n\tif n > 0 {\n\t\tf(1)\n\t}\n}\n"

// .ci/mutation fails for a new survivor, a lower score, and a run that measured nothing. The lines are those of
// gremlins 0.6.0.
func TestMutation(t *testing.T) {
	requirePrograms(t, "bash", "git", "awk", "comm")
	const (
		killed   = "      KILLED CONDITIONALS_NEGATION at a.go:4:7\n"
		late     = "   TIMED OUT CONDITIONALS_NEGATION at a.go:7:7\n"
		accepted = "       LIVED CONDITIONALS_BOUNDARY at a.go:4:7\n"
		moved    = "       LIVED CONDITIONALS_BOUNDARY at a.go:7:7\n"
		other    = "       LIVED CONDITIONALS_NEGATION at a.go:4:7\n"
		beyond   = " NOT COVERED CONDITIONALS_NEGATION at a.go:7:7\n"
		summary  = "\nKilled: 3, Lived: 1, Not covered: 0\n"
	)
	for name, test := range map[string]struct {
		log, want string
		exit      string // of gremlins
		packages  []string
		fails     bool
	}{
		"as measured":               {log: killed + late + killed + accepted + summary, want: "score\ta\t3\t4"},
		"better":                    {log: killed + killed + killed + killed, want: "to be removed from the file: a/a.go\tCONDITIONALS_BOUNDARY\tif n > 0 {"},
		"line has moved":            {log: killed + killed + killed + moved, want: "score\ta\t3\t4"},
		"survives twice":            {log: strings.Repeat(killed, 9) + accepted + moved, fails: true, want: "a: new survivors:\na/a.go\tCONDITIONALS_BOUNDARY\tif n > 0 {\n"},
		"other operator":            {log: strings.Repeat(killed, 9) + other, fails: true, want: "a/a.go\tCONDITIONALS_NEGATION\tif n > 0 {"},
		"no test reaches it":        {log: strings.Repeat(killed, 9) + beyond, fails: true, want: "a/a.go\tCONDITIONALS_NEGATION\tif n > 0 {"},
		"lower score":               {log: killed + killed + accepted, fails: true, want: "a: the score was 3 of 4"},
		"no mutants":                {log: summary, fails: true, want: "a: gremlins found no mutants"},
		"gremlins fails":            {log: killed, exit: "1", fails: true, want: "a: gremlins failed"},
		"package without score":     {log: killed, packages: []string{"b"}, fails: true, want: "b has no score"},
		"a prefix is another":       {log: killed + accepted, packages: []string{"ab"}, fails: true, want: "ab: new survivors"},
		"second package is checked": {log: killed, packages: []string{"ab", "b"}, fails: true, want: "b has no score"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			packages := test.packages
			if packages == nil {
				packages = []string{"a"}
			}
			out, err := runMutation(t, append(packages, "LOG="+test.log, "EXIT="+test.exit)...)
			require.Equal(t, test.fails, err != nil, "%s", out)
			require.Contains(t, out, test.want)
		})
	}
}

// Without arguments, the script measures each package of the file.
func TestMutationOfAllPackages(t *testing.T) {
	requirePrograms(t, "bash", "git", "awk", "comm")
	out, err := runMutation(t, "LOG=      KILLED CONDITIONALS_NEGATION at a.go:4:7\n")
	require.NoError(t, err, out)
	require.Contains(t, out, "gremlins unleash ./a\n")
	require.Contains(t, out, "gremlins unleash ./ab\n")
}

// gremlins does not run a mutant that the profile does not cover, and exit code 2 means that one does not compile.
func TestMutationRunsEveryMutantThatCompiles(t *testing.T) {
	requirePrograms(t, "bash", "git", "awk", "comm", "go")
	out, err := runMutation(t, "a", "RUN=go test -cover -coverprofile p ./a/...; cat p; go test ./broken; echo exit code $?",
		"LOG=      KILLED CONDITIONALS_NEGATION at a.go:4:7\n")
	require.NoError(t, err, out)
	require.Contains(t, out, "\nmode: set\n")
	require.Contains(t, out, "\nsample/a/a.go:1.1,1000000.1 1 1\n")
	require.Contains(t, out, "\nsample/a/constant.go:1.1,1000000.1 1 1\n")
	require.Contains(t, out, "\nexit code 2\n")
}

// runMutation runs .ci/mutation in a repository with sampleTable. Arguments with "=" are variables for gremlins.
func runMutation(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	dir := t.TempDir()
	for path, text := range map[string]string{
		".ci/mutation.tsv": sampleTable, "a/a.go": sampleCode, "b/a.go": sampleCode, "ab/a.go": sampleCode,
		"go.mod": "module sample\n\ngo 1.26\n", "a/constant.go": "package a\n\nconst limit = 2 * 3\n",
		"broken/a.go": "package a\n\nconst name = \"a\" - \"b\"\n", "broken/a_test.go": "package a\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
	}
	chaintest.WriteProgram(t, filepath.Join(dir, ".ci/mutation"), chaintest.Read(t, ".ci/mutation"))
	chaintest.WriteProgram(t, filepath.Join(dir, "gremlins"), `#!/bin/sh
for last in "$@"; do :; done
echo "gremlins $1 $last"
printf '%s' "$LOG"
eval "${RUN:-}"
exit ${EXIT:-0}
`)
	for _, git := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		out, err := exec.Command("git", append([]string{"-C", dir}, git...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, ".ci/mutation"), filepath.Join(dir, "gremlins"))
	cmd.Env = os.Environ()
	for _, arg := range args {
		if strings.Contains(arg, "=") {
			cmd.Env = append(cmd.Env, arg)
		} else {
			cmd.Args = append(cmd.Args, arg)
		}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
