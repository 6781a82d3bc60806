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

// modelsThatAnswer are runs of claude with more than one model, each with the model that answers.
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

// The Response names the model that answered. That is neither the model of the request, nor the model of a sub-agent.
func TestResponseNamesAnsweringModel(t *testing.T) {
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
				require.Contains(t, resp.Text, hello) // claude may call the model again when the sub-agent reports
				require.Contains(t, resp.Model, run.want)
			})
		}
	}
}
