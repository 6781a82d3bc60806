package failover_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

func codexSays(text string) string {
	return `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"` + text + `"}}` + "\n"
}

const codexRuns = `{"type":"item.started","item":{"id":"t","type":"command_execution","command":"ls"}}` + "\n" +
	`{"type":"item.completed","item":{"id":"t","type":"command_execution","aggregated_output":"x","exit_code":0}}` + "\n"

// textsOf returns the texts and the thoughts of a stream, and its error.
func textsOf(p clichain.Backend, t *testing.T) (text, thinking []string, err error) {
	for e, failure := range p.Stream(t.Context(), clichain.Prompt("hi")) {
		switch {
		case failure != nil:
			err = failure
		case e.Kind == clichain.EventText:
			text = append(text, e.Text)
		case e.Kind == clichain.EventThinking:
			thinking = append(thinking, e.Text)
		}
	}
	return text, thinking, err
}

func TestStreamOfCodexHasNoCommentary(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		cfg            clichain.Config
		text, thinking []string
	}{
		{"by default", clichain.Config{}, []string{"done"}, []string{"let me look", "and again"}},
		{"kept", clichain.Config{KeepCommentary: true}, []string{"let me look", "and again", "done"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			clitest.NoLeaks(t)
			p := chaintest.Provider(t, specs.Codex(), test.cfg, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(codexSays("let me look")+codexRuns+codexSays("and again")+codexRuns+chaintest.CodexAnswer("done"))))
			text, thinking, err := textsOf(p, t)
			require.NoError(t, err)
			require.Equal(t, test.text, text)
			require.Equal(t, test.thinking, thinking)
		})
	}
}

// Commentary is no delivered text: after a failed attempt the chain may continue.
func TestCommentaryDoesNotEndAChain(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	broken := func(timeout time.Duration) clichain.Backend {
		return chaintest.Provider(t, specs.Codex(), clichain.Config{Timeout: timeout}, chaintest.Play(chaintest.Stdout(codexSays("let me look")), clitest.Step{Hang: true}))
	}
	healthy := chaintest.Provider(t, chaintest.Named(specs.Codex(), "healthy"), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("done"))))
	t.Run("chain", func(t *testing.T) {
		t.Parallel()
		chaintest.InTime(t, 3*time.Second, func(timeout time.Duration) bool {
			text, thinking, err := textsOf(clichain.ChainOf([]clichain.Backend{broken(timeout), healthy}, nil), t)
			require.NoError(t, err)
			require.Equal(t, []string{"done"}, text)
			return slices.Equal(thinking, []string{"let me look"})
		})
	})
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		chaintest.InTime(t, 3*time.Second, func(timeout time.Duration) bool {
			_, err := broken(timeout).Complete(t.Context(), clichain.Prompt("hi"))
			return chaintest.RequireReason(t, clichain.ReasonTimeout, err).Partial == "let me look"
		})
	})
}
