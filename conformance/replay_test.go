package conformance_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// A CLI may run a tool without an event. Nothing repeats the request after that, neither the same CLI nor another.
func TestUnreportedToolsRunOnce(t *testing.T) {
	for name, outputs := range map[string][]clispec.OutputMode{
		home.Claude: {clispec.OutputStream, clispec.OutputJSON, clispec.OutputText}, home.Codex: {clispec.OutputStream},
		home.Gemini: {clispec.OutputJSON}, home.OpenCode: {clispec.OutputStream},
	} {
		for _, output := range outputs {
			t.Run(name+" "+string(output), func(t *testing.T) {
				longUnless(t, name != home.Gemini)
				t.Parallel()
				marks := filepath.Join(t.TempDir(), "marks")
				cfg := longTimeout
				cfg.Output = output
				script := func(q loopback.Request) loopback.Reply {
					if q.N == 1 {
						return shell(name, "echo ran >>"+marks)
					}
					return problem(name, http.StatusNotFound)
				}
				c := start(t, name, home.LoggedIn, cfg, script)
				_, err := withSpare(c, nil).Complete(t.Context(), c.agent())
				var chain *clichain.ChainError
				require.ErrorAs(t, err, &chain)
				require.Contains(t, chain.Note, "may have used a tool", "%v", err)
				require.Len(t, chain.Attempts, 1)
				data, _ := os.ReadFile(marks)
				require.Equal(t, "ran\n", string(data))
			})
		}
	}
}

// If the service refuses the first request, no tool can have run. Another backend answers, in the output modes that
// show the refusal.
func TestChainFailsOverAfterRefusal(t *testing.T) {
	for name, outputs := range map[string][]clispec.OutputMode{
		home.Claude: {clispec.OutputStream, clispec.OutputJSON}, home.Codex: {clispec.OutputStream},
		home.Gemini: {clispec.OutputStream}, home.OpenCode: {clispec.OutputStream},
	} {
		for _, output := range outputs {
			t.Run(name+" "+string(output), func(t *testing.T) {
				longUnless(t, isFirst(name))
				t.Parallel()
				cfg := longTimeout
				cfg.Output = output
				c := start(t, name, home.LoggedIn, cfg, loopback.Always(problem(name, http.StatusNotFound)))
				resp, err := withSpare(c, nil).Complete(t.Context(), c.agent())
				require.NoError(t, err)
				require.Equal(t, "spare", resp.Backend)
			})
		}
	}
}

// The text of a stream since its last reset is the answer, however the connection broke and the CLI recovered.
func TestStreamedTextIsTheAnswer(t *testing.T) {
	half, whole := loopback.Text("This is half an answer"), loopback.Text("This is the whole answer now")
	first, second := loopback.Text("First block."), loopback.Text("Second block.")
	for scene, replies := range map[string][]loopback.Reply{
		"cut in a block":              {loopback.TruncateOpen(half), whole},
		"cut after a block":           {loopback.Truncate(half), whole},
		"failure in a block":          {loopback.Join(half, loopback.Fail("overloaded_error", "Overloaded")), whole},
		"cut in the second block":     {loopback.TruncateOpen(first, loopback.Text("Second bl")), loopback.Join(first, second)},
		"two complete blocks":         {loopback.Join(first, second)},
		"second block repeated alone": {loopback.TruncateOpen(first, second), second},
	} {
		for _, name := range home.Names() {
			for _, output := range []clispec.OutputMode{clispec.OutputStream, clispec.OutputText} {
				// opencode streams no partial blocks.
				if scene != "two complete blocks" && (output == clispec.OutputText || name == home.OpenCode && scene != "cut in the second block") {
					continue
				}
				t.Run(name+" "+string(output)+"/"+scene, func(t *testing.T) {
					t.Parallel()
					longUnless(t, isFirst(name))
					cfg := longTimeout
					cfg.Output = output
					c := start(t, name, home.LoggedIn, cfg, loopback.InOrder(replies...))
					streamed, resp := textOf(t, c, clichain.Prompt("say hi"))
					if resp != nil {
						require.Equal(t, resp.Text, streamed)
					}
					t.Logf("%q", streamed)
				})
			}
		}
	}
}

// textOf returns the final text of the stream's reader, and the answer. The answer is nil if the CLI did not recover.
func textOf(t *testing.T, b clichain.Backend, req clichain.Request) (string, *clichain.Response) {
	t.Helper()
	var text strings.Builder
	for e, err := range b.Stream(t.Context(), req) {
		if err != nil {
			t.Logf("%v", err)
			return text.String(), nil
		}
		switch e.Kind {
		case call.EventDelta, call.EventText:
			text.WriteString(e.Text)
		case call.EventReset:
			text.Reset()
		case call.EventDone:
			return text.String(), e.Response
		}
	}
	return text.String(), nil
}
