package reading

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// codexWarnings are what codex 0.169 prints on the stderr of good runs too, in front of its ERROR lines.
const codexWarnings = "warning: Codex could not find bubblewrap on PATH. Codex will use the bundled bubblewrap in the meantime.\n" +
	"warning: Model metadata for `gpt-no-such-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.\n" +
	"2026-11-24T22:19:38.455159Z ERROR codex_api::endpoint::responses_websocket: failed to connect to Responses WebSocket stage=Unknown\n"

// The last ERROR line of codex decides, not a warning or a log line that also comes with an answer.
func TestCodexErrorWinsOverWarning(t *testing.T) {
	const logged = "2026-11-24T22:19:38.455159Z ERROR codex_core::models_manager::manager: failed to refresh available models: unexpected status 404 Not Found\n"
	for _, test := range []struct {
		name, stderr string
		reason       call.Reason
		message      string
	}{
		{
			"status 400", codexWarnings + `ERROR: {"error":{"code":"invalid_request_error","message":"messages: at least one message is required"}}` + "\n",
			call.ReasonBadRequest, "messages: at least one message is required",
		},
		{"unknown words", codexWarnings + `ERROR: {"error":{"code":"odd","message":"boom"}}` + "\n", call.ReasonExit, ""},
		{"status 429", codexWarnings + "ERROR: exceeded retry limit, last status: 429 Too Many Requests\n", call.ReasonRateLimited, "exceeded retry limit, last status: 429 Too Many Requests"},
		{
			"after retries", codexWarnings + "ERROR: Reconnecting... 1/5\nERROR: Reconnecting... 2/5\nERROR: We’re currently experiencing high demand, which may cause temporary errors.\n",
			call.ReasonOverloaded, "We’re currently experiencing high demand, which may cause temporary errors.",
		},
		{"a log line before", logged + "ERROR: You've hit your usage limit. Upgrade to Pro or try again in 2 days 17 hours 14 minutes.\n", call.ReasonUsageLimit, "You've hit your usage limit. Upgrade to Pro or try again in 2 days 17 hours 14 minutes."},
		{"a log line after", "ERROR: You've hit your usage limit.\n" + logged, call.ReasonUsageLimit, "You've hit your usage limit."},
		{"a warning alone", codexWarnings, call.ReasonExit, ""},
		{"a model that does not exist", codexWarnings + "ERROR: The model `gpt-9` does not exist or you do not have access to it.\n", call.ReasonBadModel, "The model `gpt-9` does not exist or you do not have access to it."},
		{"a plan without the model", codexWarnings + "ERROR: The 'gpt-9' model is not supported when using Codex with a ChatGPT account.\n", call.ReasonBadModel, "ERROR: The 'gpt-9' model is not supported when using Codex with a ChatGPT account."},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, failure, _ := Replay(specs.Codex(), Recording{
				Output: clispec.OutputText, Prompt: "say hi", Stderr: codexUntilPrompt("say hi") + test.stderr, ExitCode: 1,
			})
			require.NotNil(t, failure)
			require.Equal(t, test.reason, failure.Reason, "%v", failure)
			require.Equal(t, test.message, failure.Message)
		})
	}
}
