package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

// eachVersion runs a test for each installed version of each CLI with a built-in spec.
func eachVersion(t *testing.T, test func(t *testing.T, of home.Install, spec clichain.CliSpec)) {
	for _, of := range home.Installs() {
		spec, ok := specs.ByName(of.CLI)
		if !ok {
			continue
		}
		t.Run(of.CLI, func(t *testing.T) {
			longUnless(t, isFirst(of.CLI))
			netns.Require(t)
			of.Binary(t) // skips the test if the version is missing
			test(t, of, spec)
		})
	}
}

// startVersion returns a Provider for one version of a CLI.
func startVersion(t *testing.T, of home.Install, spec clichain.CliSpec, text string) cli {
	t.Helper()
	return startOf(t, of, spec, home.LoggedIn, longTimeout, loopback.Always(loopback.Text(text)))
}

// clichain knows the version of each CLI without starting it. An answer reports drift only if the CLI is newer than
// its spec.
func TestVersionsAreKnown(t *testing.T) {
	eachVersion(t, func(t *testing.T, of home.Install, spec clichain.CliSpec) {
		t.Parallel()
		c := startVersion(t, of, spec, hello)
		require.Equal(t, of.Version(t), c.Status("").Version)
		resp, err := c.Complete(t.Context(), c.question("say hi"))
		require.NoError(t, err)
		require.Equal(t, hello, resp.Text)
		require.Empty(t, resp.Drift)

		spec.CheckedWith = "0.1.0"
		resp, err = startVersion(t, of, spec, hello).Complete(t.Context(), c.question("say hi"))
		require.NoError(t, err)
		require.Equal(t, of.Version(t)+" is newer than 0.1.0, with which its spec was checked", resp.Drift)
	})
}

// A CLI rejects an unknown flag. The call, or the start of a session, fails as unsupported with a hint, because the
// spec may be newer than the CLI.
func TestUnknownFlag(t *testing.T) {
	eachVersion(t, func(t *testing.T, of home.Install, spec clichain.CliSpec) {
		t.Parallel()
		c := startVersion(t, of, spec, "never")
		req := c.liveQuestion("say hi")
		req.Options.Extra = map[string][]string{of.CLI: {"--no-such-flag"}}
		_, err := c.Complete(t.Context(), req)
		requireUnknownFlag(t, err)
		if !spec.Live.Has() {
			return
		}
		s := live.New(c.Provider, &live.Config{Request: clichain.Request{Model: req.Model, Options: req.Options}})
		t.Cleanup(s.Kill)
		requireUnknownFlag(t, s.Start(t.Context()))
		require.Empty(t, c.server.Calls())
	})
}

func requireUnknownFlag(t *testing.T, err error) {
	t.Helper()
	var be *clichain.BackendError
	require.ErrorAs(t, err, &be)
	require.Equal(t, clichain.ReasonUnsupported, be.Reason, "%v", err)
	require.Contains(t, be.Hint, "update")
}
