package accept_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/accept"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// The programs of docs/how-to/check-an-answer.md.
func TestCheckPage(t *testing.T) {
	clitest.NoLeaks(t)
	t.Run("check in Go", func(t *testing.T) {
		backends := []clichain.Backend{&chaintest.Backend{ID: "a"}, &chaintest.Backend{ID: "b", Said: "diff --git a/x b/x"}}
		chain := clichain.ChainOf(backends, &clichain.ChainConfig{
			Accept: func(_ context.Context, _ clichain.Request, resp *clichain.Response) error {
				if !strings.HasPrefix(resp.Text, "diff ") {
					return errors.New("the answer is not a patch")
				}
				return nil
			},
		})
		resp, err := chain.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
		require.Equal(t, "b", resp.Backend)
	})
	t.Run("check a Go value", func(t *testing.T) {
		ctx := t.Context()
		type city struct {
			Name   string `json:"name"`
			People int    `json:"people"`
		}
		dir := t.TempDir()
		for name, people := range map[string]string{"claude": "0", "codex": "2"} {
			said := `{"name":"Paris","people":` + people + `}`
			output := chaintest.CodexAnswer(said)
			if name == "claude" {
				output = chaintest.Init1 + "\n" + chaintest.ResultLine(strings.ReplaceAll(said, `"`, `\"`)) + "\n"
			}
			_, err := clitest.Install(dir, name, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(output)))
			require.NoError(t, err)
		}
		t.Setenv("PATH", dir)
		t.Setenv("ANTHROPIC_API_KEY", "x")
		t.Setenv("CODEX_API_KEY", "x")

		chain := clichain.NewChain(specs.All(), &clichain.ChainConfig{
			Accept: accept.As(func(_ context.Context, _ *clichain.Response, c city) error {
				if c.People <= 0 {
					return fmt.Errorf("%s has no people", c.Name)
				}
				return nil
			}),
		})
		answer, resp, err := clichain.CompleteAs[city](ctx, chain, clichain.Prompt("What is the capital of France?"))

		require.NoError(t, err)
		require.Equal(t, city{"Paris", 2}, answer)
		require.Equal(t, "codex", resp.Backend)
		be := chaintest.RequireReason(t, clichain.ReasonRejected, resp.Attempts[0].Err)
		require.Equal(t, "Paris has no people", be.Message)
	})
	t.Run("ask a cheap model first", func(t *testing.T) {
		check := refusing()
		haiku := clichain.NewProvider(specs.Claude(), &clichain.Config{Name: "claude-haiku", Model: "haiku"})
		sonnet := clichain.NewProvider(specs.Claude(), &clichain.Config{Name: "claude-sonnet", Model: "sonnet", Effort: "high"})
		codex := clichain.NewProvider(specs.Codex(), nil)
		chain := clichain.ChainOf([]clichain.Backend{haiku, sonnet, codex}, &clichain.ChainConfig{Accept: check})
		require.NoError(t, chain.Validate())
	})
}
