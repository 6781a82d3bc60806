package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/specs"
)

// At the limit of turns the text so far is the answer, with a flag. In JSON mode claude does not print that text, so
// the call fails.
func TestTextAtTurnLimit(t *testing.T) {
	for _, output := range []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON} {
		t.Run(string(output), func(t *testing.T) {
			t.Parallel()
			cfg := longTimeout
			cfg.Output = output
			c := start(t, home.Claude, home.LoggedIn, cfg, loopback.Always(loopback.Join(loopback.Text(answered), shell(home.Claude, "echo ran"))))
			req := c.agent()
			req.Options.MaxTurns = 1
			resp, err := c.Complete(t.Context(), req)
			require.Len(t, c.server.Calls(), 1)
			if output == clispec.OutputJSON {
				require.ErrorIs(t, err, clichain.ErrBadOutput)
				require.ErrorContains(t, err, "maximum number of turns")
				return
			}
			require.NoError(t, err)
			require.Equal(t, answered, resp.Text)
			require.Equal(t, []call.Flag{call.FlagTruncated}, resp.Flags)
			require.Equal(t, []string{"the answer was cut short: Reached maximum number of turns (1)"}, resp.Warnings)
		})
	}
}

// The model of an answer is the one that the CLI reports, or else the name of the default. An unknown cost stays
// unknown.
func TestModelOfAnswer(t *testing.T) {
	long(t)
	const sent = "the model of the request"
	models := map[string]string{
		"claude stream": sent, "claude json": sent, "claude text": "claude-desktop",
		"gemini stream": "auto", "gemini json": sent, "gemini text": "gemini-desktop",
		"codex stream": "codex-default", "codex text": "codex-default",
		"opencode stream": "opencode-default", "opencode text": "opencode-default",
	}
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		spec, _ := specs.ByName(name)
		for _, output := range spec.OutputModes() {
			cfg := longTimeout
			cfg.Output = output
			c := start(t, name, home.LoggedIn, cfg, loopback.Always(loopback.Text(hello)))
			resp, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
			require.NoError(t, err)
			want := models[name+" "+string(output)]
			if want == sent {
				want = c.server.Calls()[0].Model()
			}
			require.Equal(t, want, resp.Model, output)
			require.Equal(t, name == home.Claude && output != clispec.OutputText, resp.Usage.CostUSD != nil, output)
		}
	})
}

// Both the text that replaces the CLI's system text and the appended text reach the model, in this order.
func TestBothSystemTexts(t *testing.T) {
	long(t)
	eachCLI(t, func(t *testing.T, name string) {
		t.Parallel()
		for _, access := range []clichain.Access{clichain.AccessNone, clichain.AccessWrite} {
			c := start(t, name, home.LoggedIn, longTimeout, nil)
			req := c.question("say hi")
			if req.Access = access; access != clichain.AccessNone {
				req.Dir = c.home.Work
			}
			req.Messages = append(req.Messages, clichain.Message{Role: clichain.RoleSystem, Content: "Count beetles."})
			req.Options.SystemMode, req.Options.AppendSystem = call.SystemReplace, "Then name them."
			_, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Len(t, c.server.Calls(), 1)
			body := string(c.server.Calls()[0].Body)
			first, second := strings.Index(body, "Count beetles."), strings.Index(body, "Then name them.")
			require.Positive(t, first)
			require.Greater(t, second, first)
			require.Equal(t, 1, strings.Count(body, "Count beetles."))
			require.Equal(t, 1, strings.Count(body, "Then name them."))
		}
	})
}

// An environment variable of a request reaches the programs that the agent runs.
func TestVariableOfARequest(t *testing.T) {
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		cfg := longTimeout
		cfg.RequestEnv = []string{"CHAT_ID"}
		c := start(t, name, home.LoggedIn, cfg, loopback.InOrder(shell(name, `sh -c "echo chat=$CHAT_ID >made"`), loopback.Text(hello)))
		req := c.agent()
		req.Access = clichain.AccessFull
		req.Env = map[string]string{"CHAT_ID": "zyzzyva-7"}
		_, err := c.Complete(t.Context(), req)
		require.NoError(t, err)
		require.NotEmpty(t, holding(t, c.home.Work, "chat=zyzzyva-7"), results(c))
	})
}

// The preset for agents limits claude to ten turns. Each CLI still edits files.
func TestPresetForAgents(t *testing.T) {
	long(t)
	cfg := longTimeout
	cfg.Agent = true
	t.Run("turns", func(t *testing.T) {
		t.Parallel()
		c := start(t, home.Claude, home.LoggedIn, cfg, loopback.Always(shell(home.Claude, "echo ran")))
		_, err := c.Complete(t.Context(), c.agent())
		require.ErrorIs(t, err, clichain.ErrBadOutput)
		require.Len(t, c.server.Calls(), 10)
	})
	for name, tool := range writeTool {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, name, home.LoggedIn, cfg, loopback.InOrder(tool, loopback.Text(hello)))
			_, err := c.Complete(t.Context(), c.askIn(clichain.AccessWrite, "write it"))
			require.NoError(t, err)
			made(true, "work/out.txt")(t, c)
		})
	}
}
