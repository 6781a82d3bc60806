package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// Listing the models of a CLI sends no request. codex reports the most details.
func TestModels(t *testing.T) {
	for name, part := range map[string]string{home.Codex: "gpt-", home.OpenCode: "/", home.Claude: "", home.Gemini: "gemini"} {
		t.Run(name, func(t *testing.T) {
			longUnless(t, isFirst(name))
			t.Parallel()
			c := start(t, name, home.LoggedIn, clichain.Config{}, loopback.Always(loopback.Text("never")))
			models, err := c.Models(t.Context())
			require.NoError(t, err)
			require.NotEmpty(t, models)
			defaults := 0
			for _, m := range models {
				require.True(t, strings.Contains(m.Name, part) || m.Name == "auto", "%q", m)
				_, ok := c.Model(m.Name)
				require.True(t, ok, "a listed model is unknown: %q", m.Name)
				if m.Default {
					defaults++
				}
				if name == home.Codex {
					require.Positive(t, m.Context, "%+v", m)
					require.Contains(t, m.Efforts, m.DefaultEffort)
					require.Contains(t, m.Inputs, "text")
				}
			}
			require.Equal(t, name == home.Codex, defaults == 1, "%+v", models)
			require.Empty(t, c.server.Requests())
			t.Logf("%+v", models)
		})
	}
}

// Without a model, gemini sends an extra request in which a small model selects one. That request is four times as
// long as the request with the prompt.
func TestGeminiModelAvoidsRouter(t *testing.T) {
	for name, test := range map[string]struct {
		model string
		asked int
	}{"none": {"", 1}, "auto": {"auto", 1}, "named": {"gemini-2.5-flash", 0}} {
		t.Run(name, func(t *testing.T) {
			longUnless(t, name != "auto")
			t.Parallel()
			c := start(t, home.Gemini, home.LoggedIn, clichain.Config{}, loopback.Always(loopback.Text("ok")))
			req := clichain.Prompt("hi")
			req.Model = test.model
			_, err := c.Complete(t.Context(), req)
			require.NoError(t, err)
			require.Len(t, sideCalls(c.server), test.asked)
			for _, q := range c.server.Requests() {
				t.Logf("%s: side call: %v, %d bytes", q.Path, q.Side, len(q.Body))
			}
		})
	}
}
