package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// What a CLI says it offers costs no request; one that says nothing is no
// failure.
func TestModels(t *testing.T) {
	for name, part := range map[string]string{home.Codex: "gpt-", home.OpenCode: "/", home.Claude: "", home.Gemini: ""} {
		t.Run(name, func(t *testing.T) {
			c := start(t, name, home.LoggedIn, clichain.Config{}, loopback.Always(loopback.Text("never")))
			models, err := c.Models(t.Context())
			require.NoError(t, err)
			require.Equal(t, part == "", len(models) == 0, "%q", models)
			for _, model := range models {
				require.True(t, strings.Contains(model, part), "%q", model)
			}
			require.Empty(t, c.server.Requests())
			t.Logf("%q", models)
		})
	}
}
