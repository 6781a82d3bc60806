package container_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/doctor"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

func TestSandbox(t *testing.T) {
	for _, test := range []struct {
		name    string
		policy  clichain.SandboxPolicy
		env     map[string]string
		offline bool
		want    clichain.Reason // "": the backend is tried
		by      string
	}{
		{name: "none"},
		{name: "Nix build", env: map[string]string{"NIX_BUILD_TOP": "/build"}, want: clichain.ReasonSuppressed, by: "NIX_BUILD_TOP"},
		{name: "Nix shell", env: map[string]string{"NIX_BUILD_TOP": "/build", "IN_NIX_SHELL": "pure"}},
		{name: "Nix build, declared as no sandbox", policy: clichain.SandboxOff, env: map[string]string{"NIX_BUILD_TOP": "/build"}},
		{name: "Nix build with a login and a network", env: map[string]string{"NIX_BUILD_TOP": "/build", "OPENCODE_API_KEY": "x"}},
		{name: "Nix build with a login, without a network", env: map[string]string{"NIX_BUILD_TOP": "/build", "OPENCODE_API_KEY": "x"}, offline: true, want: clichain.ReasonSuppressed, by: "NIX_BUILD_TOP"},
		{name: "declared as a sandbox", policy: clichain.SandboxOn, want: clichain.ReasonSuppressed, by: "Config.Sandbox"},
		{name: "declared as a sandbox, with a login", policy: clichain.SandboxOn, env: map[string]string{"OPENCODE_API_KEY": "x"}},
		{name: "automatic, by name", policy: clichain.SandboxAuto, env: map[string]string{"NIX_BUILD_TOP": "/build"}, want: clichain.ReasonSuppressed, by: "NIX_BUILD_TOP"},
		{name: "SKIP_CLI has priority", policy: clichain.SandboxOff, env: map[string]string{"NIX_BUILD_TOP": "/build", "SKIP_CLI": "1"}, want: clichain.ReasonSuppressed, by: "SKIP_CLI"},
		{name: "SKIP_CLI has priority over the sandbox", env: map[string]string{"NIX_BUILD_TOP": "/build", "SKIP_CLI": "1"}, want: clichain.ReasonSuppressed, by: "SKIP_CLI"},
		{name: "unknown policy", policy: "perhaps", want: clichain.ReasonBadOption},
	} {
		t.Run(test.name, func(t *testing.T) {
			chaintest.FreshMachine(t, chaintest.Play())
			chaintest.SetOnline(t, !test.offline)
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			p := clichain.NewProvider(specs.OpenCode(), &clichain.Config{Sandbox: test.policy})
			err := p.Available(t.Context())
			if test.want == "" {
				require.NoError(t, err)
			} else {
				chaintest.RequireReason(t, test.want, err)
			}
			d := doctor.Diagnose(t.Context(), []clichain.Backend{p}, nil).Backends[0]
			require.Equal(t, test.by, d.SuppressedBy)
			require.Equal(t, test.want == "", d.Ready())
		})
	}
}

// If a login is unknown or the machine has no network, the chain skips a backend only in a sandbox.
func TestNoSandboxNoSkip(t *testing.T) {
	if chaintest.Keychain {
		t.Skip("with a keychain, nothing is known to be absent")
	}
	chaintest.FreshMachine(t, chaintest.Play())
	chaintest.SetOnline(t, false)
	require.NoError(t, clichain.NewProvider(specs.OpenCode(), nil).Available(t.Context()))
	require.ErrorIs(t, clichain.NewProvider(specs.Claude(), nil).Available(t.Context()), clichain.ErrUnauthenticated)
}
