package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// modelsThatAnswer are claude's runs with more than one model, and which of them has answered.
var modelsThatAnswer = map[string]struct {
	script loopback.Script
	want   string
}{
	"fallback": {func(q loopback.Request) loopback.Reply {
		if strings.Contains(q.Model(), "opus") {
			return problem(home.Claude, http.StatusNotFound)
		}
		return loopback.Text(hello)
	}, "haiku"},
	"sub-agent": {func(q loopback.Request) loopback.Reply {
		switch {
		case strings.Contains(q.Prompt(), "BELOW"):
			return loopback.Text("the agent below")
		case len(q.Results()) == 0:
			return loopback.Tool("Task", map[string]any{
				"description": "look", "prompt": "BELOW", "subagent_type": "general-purpose", "model": "haiku",
			})
		}
		return loopback.Text(hello)
	}, "opus"},
}

// TestModelThatAnswers: the Response names the model that has answered, not the one that was asked first, nor that of a
// sub-agent.
func TestModelThatAnswers(t *testing.T) {
	for name, run := range modelsThatAnswer {
		for _, output := range []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON} {
			t.Run(name+" "+string(output), func(t *testing.T) {
				t.Parallel()
				cfg := longTimeout
				cfg.Output = output
				c := start(t, home.Claude, home.LoggedIn, cfg, run.script)
				req := c.askIn(clichain.AccessFull, "say hi")
				req.Model, req.Options.FallbackModel = "opus", "haiku"
				resp, err := c.Complete(t.Context(), req)
				require.NoError(t, err)
				require.Contains(t, resp.Text, hello) // it may be asked again when the sub-agent reports
				require.Contains(t, resp.Model, run.want)
			})
		}
	}
}
