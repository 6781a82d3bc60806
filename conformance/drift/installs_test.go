package drift_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/conformance/drift"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/specs"
)

var update = flag.Bool("update", false, "write the names that the installed versions show to testdata")

func TestMain(m *testing.M) {
	clitest.Main()
	os.Exit(netns.Main(m))
}

// known are names that a spec uses and a version does not show, each with the reason.
var known = map[string]map[string]string{
	home.OpenCode: {
		"OPENCODE_PROCESS_ROLE": "1.15 sets this variable, and 1.17 does not",
		"OPENCODE_RUN_ID":       "1.15 sets this variable, and 1.17 does not",
	},
}

// Each installed version must have every name that its spec uses. The test logs other names that are missing or new,
// because they may be useful.
func TestInstalledVersions(t *testing.T) {
	netns.RequireLong(t)
	for _, of := range home.Installs() {
		spec, ok := specs.ByName(of.CLI)
		if !ok {
			continue
		}
		t.Run(of.CLI+" "+of.Wanted(t), func(t *testing.T) {
			netns.Require(t)
			t.Parallel()
			h := home.NewOf(t, of, "http://127.0.0.1:9", home.LoggedOut)
			source, ok := drift.Sources[of.CLI]
			require.True(t, ok, "drift.Sources has no entry for the CLI")
			cli := drift.CLI{Source: source, Paths: of.Files(t, source.Files...), Run: func(ctx context.Context, args ...string) (string, error) {
				return run(h.Command(ctx, args...))
			}}
			version := of.Version(t)
			needs := drift.NeedsOf(spec, version)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			now, in, err := drift.Look(ctx, cli, needs)
			require.NoError(t, err)
			if *update {
				write(t, of.CLI, version, now)
			}
			checked, ok := read(t, of.CLI, version)
			if !ok {
				checked, ok = read(t, of.CLI, spec.CheckedWith)
			}
			require.True(t, ok, "the names of %s %s are not recorded: run the test with -update", of.CLI, spec.CheckedWith)
			report := drift.Compare(needs, checked, now, in)
			t.Logf("vanished: %v", report.Vanished)
			t.Logf("new: %v", report.New)
			require.Empty(t, slices.DeleteFunc(report.Used(), func(c drift.Change) bool { return known[of.CLI][c.Name] != "" }))
		})
	}
}

// run returns the output of both streams. It accepts any exit code, because a help command may fail.
func run(cmd *exec.Cmd) (string, error) {
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	return string(output), err
}

// file returns the path of the recorded surface of a version.
func file(cli, version string) string { return filepath.Join("testdata", cli, version+".json") }

func read(t *testing.T, cli, version string) (s drift.Surface, ok bool) {
	t.Helper()
	text, err := os.ReadFile(file(cli, version))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &s))
	return s, true
}

func write(t *testing.T, cli, version string, s drift.Surface) {
	t.Helper()
	text, err := json.MarshalIndent(s, "", "\t")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(file(cli, version)), 0o755))
	require.NoError(t, os.WriteFile(file(cli, version), append(text, '\n'), 0o644))
}

// Every recorded surface must belong to an installed version.
func TestSurfacesHaveVersions(t *testing.T) {
	written, err := filepath.Glob(file("*", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, written)
	var wanted []string
	for _, of := range home.Installs() {
		wanted = append(wanted, file(of.CLI, of.Wanted(t)))
	}
	for _, spec := range specs.Every() {
		wanted = append(wanted, file(spec.Name, spec.CheckedWith))
	}
	for _, path := range written {
		require.Contains(t, wanted, path)
	}
}
