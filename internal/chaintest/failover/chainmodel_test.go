package failover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// installFailing installs every CLI with a login, and makes each fail once it has started.
func installFailing(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, spec := range specs.All() {
		_, err := clitest.Install(dir, spec.Binary, chaintest.Play(clitest.Exit(9)))
		require.NoError(t, err)
	}
	t.Setenv("PATH", dir)
	chaintest.LogIn(t)
}

func TestChainRoutesByModel(t *testing.T) {
	for model, want := range map[string]string{
		"openai-cli": "codex", "codex": "codex", "codex/gpt-5": "codex", "gemini-desktop": "gemini", "gemini-2.5-pro": "gemini",
		"o3": "codex", "gpt-5.5": "cursor-agent", "pinned": "codex", "sonnet": "claude", "lmstudio/qwen": "opencode", "": "claude",
	} {
		t.Run(model, func(t *testing.T) {
			req := clichain.Prompt("hi")
			req.Model = model
			installFailing(t)
			aliases := map[string]string{"pinned": "codex/gpt-5.5"}
			_, err := clichain.NewChain(specs.All(), &clichain.ChainConfig{Config: clichain.Config{ModelAliases: aliases}}).Complete(t.Context(), req)
			var ce *clichain.ChainError
			require.ErrorAs(t, err, &ce)
			for _, a := range ce.Attempts {
				if a.Reason != clichain.ReasonModelMismatch {
					require.Equal(t, clichain.ReasonExit, a.Reason)
					require.Equal(t, want, a.Backend, "the first that may take it")
					return
				}
			}
			t.Fatalf("nobody takes %q: %v", model, err)
		})
	}
}

// A name of one backend's model belongs to no other backend. If that backend does not have the model, nothing starts.
func TestForeignModelStartsNobody(t *testing.T) {
	installFailing(t)
	for _, spec := range specs.All() {
		if spec.Name == "opencode" {
			continue // which has models of all vendors, as vendor/model
		}
		for _, name := range []string{spec.Name, spec.ProviderSlug} {
			req := clichain.Prompt("hi")
			req.Model = name + "/of-somebody-else"
			_, err := clichain.NewChain(specs.All(), nil).Complete(t.Context(), req)
			var ce *clichain.ChainError
			require.ErrorAs(t, err, &ce)
			require.False(t, ce.Tried())
			for _, a := range ce.Attempts {
				require.Equal(t, clichain.ReasonModelMismatch, a.Reason, "%s: %s", req.Model, a.Backend)
			}
		}
	}
}
