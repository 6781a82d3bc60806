package repo_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"

	"github.com/clichain/clichain/internal/chaintest"
)

// workflow is the part of .github/workflows/ci.yml that this test reads.
type workflow struct {
	On          map[string]any
	Permissions map[string]string
	Jobs        map[string]struct {
		RunsOn      string `yaml:"runs-on"`
		Timeout     int    `yaml:"timeout-minutes"`
		Permissions map[string]string
		Steps       []struct {
			Uses, Run string
			With, Env map[string]string
		}
	}
}

// GitHub runs what .ci contains: it checks nothing that a checkout could not check.
func TestWorkflow(t *testing.T) {
	text := chaintest.Read(t, ".github/workflows/ci.yml")
	var flow workflow
	require.NoError(t, yaml.Load([]byte(text), &flow))
	require.Equal(t, map[string]string{"contents": "read"}, flow.Permissions)
	require.NotContains(t, flow.On, "pull_request_target", "which gives strangers' changes more than reading")
	require.NotContains(t, text, "secrets.")
	require.NotContains(t, text, "continue-on-error")

	nightly := map[string]string{
		"CLICHAIN_CONFORMANCE": "${{ github.event_name == 'schedule' && 'long' || 'required' }}",
		"FUZZTIME":             "${{ github.event_name == 'schedule' && '1m' || '' }}",
	}
	for name, want := range map[string]struct {
		on, run string
		env     map[string]string
	}{
		"linux":         {"ubuntu-24.04", `sudo --preserve-env env "PATH=$PATH" .ci/run`, nightly},
		"other-systems": {"${{ matrix.os }}", ".ci/portable", nil},
	} {
		job, ok := flow.Jobs[name]
		require.True(t, ok, name)
		require.Equal(t, want.on, job.RunsOn)
		require.Positive(t, job.Timeout)
		require.Empty(t, job.Permissions)
		require.Len(t, job.Steps, 3)
		require.Regexp(t, `^actions/checkout@[0-9a-f]{40}$`, job.Steps[0].Uses, "a tag can be moved")
		require.Equal(t, map[string]string{"persist-credentials": "false"}, job.Steps[0].With)
		require.Regexp(t, `^actions/setup-go@[0-9a-f]{40}$`, job.Steps[1].Uses, "a tag can be moved")
		require.Equal(t, map[string]string{"go-version": minor(t), "check-latest": "true", "cache": "false"}, job.Steps[1].With)
		require.Equal(t, want.run, job.Steps[2].Run)
		require.Equal(t, want.env, job.Steps[2].Env)
	}
	require.Len(t, flow.Jobs, 2)
	for line := range strings.Lines(text) {
		if strings.Contains(line, "uses:") {
			require.Regexp(t, ` # v\d+\.\d+\.\d+\n$`, line, "whoever updates it needs to know what it is")
		}
	}
}

// minor returns the Go version of go.mod, without its last part.
func minor(t *testing.T) string {
	t.Helper()
	want := goVersion.FindStringSubmatch(chaintest.Read(t, "go.mod"))
	require.NotNil(t, want)
	return want[2]
}

var goVersion = regexp.MustCompile(`(?m)^go ((\d+\.\d+)\.\d+)$`)

// Every place that names a Go version names the one of go.mod.
func TestGoVersion(t *testing.T) {
	want := goVersion.FindString(chaintest.Read(t, "go.mod"))
	for _, file := range []string{"go.work", "cmd/clichain/go.mod", "jetstream/go.mod", "otel/go.mod", "hosttools/go.mod", "batch/go.mod", "conformance/go.mod", "tools/go.mod"} {
		require.Equal(t, want, goVersion.FindString(chaintest.Read(t, file)), file)
	}
	require.Contains(t, chaintest.Read(t, "README.md"), "Go "+minor(t)+" or newer")
	require.Contains(t, chaintest.Read(t, ".ci/run"), "Go "+minor(t)+" or newer")
	require.Contains(t, chaintest.Read(t, "docs/how-to/operations.md"), `go-version: "`+minor(t)+`"`)
}

// .ci/bare takes the command that runs all tests from the README, and .ci/run runs what it leaves out.
func TestAllTestsRun(t *testing.T) {
	require.Contains(t, chaintest.Read(t, ".ci/bare"), `'^go test.* work$'`)
	require.Contains(t, chaintest.Read(t, ".ci/run"), "\n  go test -vet=off -timeout 60m ./conformance/...\n")
	require.Contains(t, chaintest.Read(t, "README.md"), "\ngo test work\n")
}

// The portable tests include those of the pure packages, except packages that handle paths, which differ between
// systems.
func TestPortable(t *testing.T) {
	_, list, _ := strings.Cut(chaintest.Read(t, ".ci/portable"), "\npure=(")
	list, _, ok := strings.Cut(list, ")")
	require.True(t, ok)
	want := slices.Clone(pure)
	for _, f := range rootSources(t) {
		knowsPaths := func(i *ast.ImportSpec) bool { return i.Path.Value == `"path/filepath"` }
		if f.dir() != "clispec" && slices.ContainsFunc(f.ast.Imports, knowsPaths) { // clispec also checks Windows paths
			want = slices.DeleteFunc(want, func(dir string) bool { return dir == f.dir() })
		}
	}
	require.Equal(t, slices.Sorted(slices.Values(want)), strings.Fields(list), "let .ci/portable have them")
}
