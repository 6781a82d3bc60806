package failover_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// installed returns a Provider whose program is a fake of a version, as npm installs it. An empty version leaves out
// the package file.
func installed(t *testing.T, spec clichain.CliSpec, version string, s clitest.Scenario) *clichain.Provider {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	path, err := clitest.Install(dir, spec.Binary, s)
	require.NoError(t, err)
	if version != "" {
		file := fmt.Sprintf(`{"name":%q,"version":%q}`, spec.Packages[0], version)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(file), 0o600))
	}
	return clichain.NewProvider(spec, &clichain.Config{Binary: path})
}

// An answer has a warning if the CLI is newer than its spec, and otherwise none.
func TestDrift(t *testing.T) {
	checked := specs.Codex().CheckedWith
	for name, test := range map[string]struct{ version, want string }{
		"newer":   {"99.1.0", "99.1.0 is newer than " + checked + ", with which its spec was checked"},
		"the one": {checked, ""},
		"older":   {"0.1.0", ""},
		"unknown": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			p := installed(t, specs.Codex(), test.version, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("hello"))))
			require.Equal(t, test.version, p.Status("").Version)
			resp, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, test.want, resp.Drift)
			require.Empty(t, resp.Warnings)
		})
	}
}

// If a newer CLI was not understood, or rejects a flag, updating it would not help.
func TestDriftExplainsAFailure(t *testing.T) {
	unknown := []clitest.Step{{Stderr: "error: unknown option '--tools'\n"}, clitest.Exit(1)}
	const update, drift = "update the CLI", "with which its spec was checked: update clichain, or the spec"
	for name, test := range map[string]struct {
		version string
		steps   []clitest.Step
		reason  clichain.Reason
		hint    string // "": it has none
	}{
		"a flag of a newer version":      {"99.0.0", unknown, clichain.ReasonUnsupported, drift},
		"a flag of an older version":     {"2.0.0", unknown, clichain.ReasonUnsupported, update},
		"a flag of an unknown version":   {"", unknown, clichain.ReasonUnsupported, update},
		"an exit of a newer version":     {"99.0.0", []clitest.Step{clitest.Exit(3)}, clichain.ReasonExit, drift},
		"an exit of an older version":    {"2.0.0", []clitest.Step{clitest.Exit(3)}, clichain.ReasonExit, ""},
		"a network that a newer one had": {"99.0.0", []clitest.Step{{Stderr: "connect ECONNREFUSED\n"}, clitest.Exit(1)}, clichain.ReasonNetwork, ""},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			_, err := installed(t, specs.Claude(), test.version, chaintest.Play(test.steps...)).Complete(t.Context(), clichain.Prompt("hi"))
			be := chaintest.RequireReason(t, test.reason, err)
			require.Contains(t, be.Hint, test.hint)
			require.Equal(t, test.hint == "", be.Hint == "", be.Hint)
		})
	}
}

// An option without a flag in the installed version is refused before anything starts.
func TestOptionOfALaterVersion(t *testing.T) {
	clitest.NoLeaks(t)
	spec := clichain.CliSpec{
		Name: "own", Binary: "own", Packages: []string{"own"}, CheckedWith: "2.5.0",
		Args: []clispec.ArgRow{
			{Args: []string{"--effort={effort}"}, When: clispec.When{Set: []string{"effort"}, Since: "2.1.0"}}, {Args: []string{"{prompt}"}},
		},
		Hints: map[clichain.Reason]string{clichain.ReasonNotInstalled: "npm install -g own"},
	}
	req := clichain.Prompt("hi")
	req.Options.Effort = "high"
	record := filepath.Join(t.TempDir(), "record")
	for _, version := range []string{"2.1.0", ""} {
		resp, err := installed(t, spec, version, chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout("hello"))).Complete(t.Context(), req)
		require.NoError(t, err, version)
		require.Equal(t, "hello", resp.Text)
		require.NoError(t, os.Remove(record))
	}
	p := installed(t, spec, "2.0.9", chaintest.Play(clitest.Step{Record: record}))
	_, err := p.Complete(t.Context(), req)
	be := chaintest.RequireReason(t, clichain.ReasonUnsupported, err)
	require.Equal(t, "effort", be.Option)
	require.Contains(t, be.Message, "needs version 2.1.0 of own or later: 2.0.9 is installed")
	require.Equal(t, "update it: npm install -g own", be.Hint)
	require.NoFileExists(t, record)
	require.ErrorIs(t, p.Check(t.Context(), req), clichain.ErrUnsupported)

	// In a container its files are not on this machine.
	cfg := p.Config()
	cfg.Container = &clichain.Container{Image: "own"}
	require.Empty(t, clichain.NewProvider(spec, &cfg).Status("").Version)
}
