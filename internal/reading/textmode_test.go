package reading

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// codexWarnings are warnings that codex 0.169 prints on the stderr of successful runs too, before its ERROR
// lines.
const codexWarnings = "warning: Codex could not find bubblewrap on PATH. Codex will use the bundled bubblewrap in the meantime.\n" +
	"warning: Model metadata for `gpt-no-such-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.\n" +
	"2026-11-24T22:19:38.455159Z ERROR codex_api::endpoint::responses_websocket: failed to connect to Responses WebSocket stage=Unknown\n"

// The last ERROR line of codex decides, not a warning or a log line that also occurs with an answer.
func TestCodexErrorOverridesWarning(t *testing.T) {
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

// cursorLimits are published messages about its limit, as text mode prints them.
var cursorLimits = []string{
	"Error: You've hit your usage limit … Your usage limits will reset when your monthly cycle ends on 11/25/2026.\n",
	"Error: You’ve hit your usage limit … Your usage limits will reset when your monthly cycle ends on 11/25/2026.\n",
	"ActionRequiredError: You've hit your usage limit. Switch to a different model. Your usage limits will reset when your monthly cycle ends on 11/25/2026.\n",
	"\n\x1b[31mError: You've hit your usage limit\x1b[0m\n  Get Pro for more usage.\n  spendLimitHit: false\n  chatMessage: *You've hit your free requests limit. Your usage limits will reset when your monthly cycle ends on 11/25/2026.*\n",
}

func TestCursorLimitOnStdout(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for _, text := range cursorLimits {
		for name, rec := range map[string]Recording{
			"stdout":            {Stdout: text},
			"stderr":            {Stderr: text},
			"stdout and stderr": {Stdout: text, Stderr: text},
		} {
			rec.Output, rec.ExitCode, rec.Now = clispec.OutputText, 1, now
			_, _, failure, _ := Replay(specs.Cursor(), rec)
			require.NotNil(t, failure)
			require.Equal(t, call.ReasonUsageLimit, failure.Reason, "%s: %q: %v", name, text, failure)
			require.Equal(t, 25, failure.RetryAfter.Day(), "%s: %q", name, text)
			require.Equal(t, time.November, failure.RetryAfter.Month(), "%s: %q", name, text)
		}
	}
}

// A limit that the model quotes on stdout is no evidence, in any CLI whose stdout contains only the answer.
func TestAnswerQuotingLimit(t *testing.T) {
	for _, spec := range specs.Every() {
		if !spec.Text.AnswerOnly {
			continue
		}
		replay := ReplayBy(spec)
		for _, limit := range append(cursorLimits, scary...) {
			for _, text := range []string{"It says this:\n" + limit, "The log has \"" + limit + "\"", "> " + limit, "`" + limit + "`"} {
				_, _, failure, _ := replay(Recording{Output: clispec.OutputText, Stdout: text, ExitCode: 1})
				require.NotNil(t, failure)
				require.Contains(t, []call.Reason{call.ReasonExit, spec.ExitCodes[1]}, failure.Reason, "%s: %q", spec.Name, text)
			}
		}
	}
}
