package conformance_test

import (
	"fmt"
	"net/http"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// own are the scenes of one CLI.
var own = map[string][]scene{
	home.Claude:   claudeScenes(),
	home.Codex:    codexScenes(),
	home.Gemini:   geminiScenes(),
	home.OpenCode: openCodeScenes(),
	home.Copilot:  copilotScenes(),
	home.Kimi:     kimiScenes(),
	home.Pi:       piScenes(),
	home.Kilo:     kiloScenes(),
	home.Cline:    clineScenes(),
	home.Qwen:     qwenScenes(),
}

// limitEnds is the end of the plans' limits, in seconds since 1970. It is always in the future of the recording, and
// not on a full minute, because the CLIs print only minutes.
var limitEnds = time.Now().Truncate(time.Hour).Add(22*time.Hour + 26*time.Minute + 40*time.Second).Unix()

func claudeScenes() []scene {
	shell, done := shell(home.Claude, "echo ran"), loopback.Text("Done.")
	half := loopback.Truncate(loopback.Text("This is half an"))
	overloaded := loopback.Error(529, "overloaded_error", "Overloaded")
	expired := loopback.Error(http.StatusUnauthorized, "authentication_error", "OAuth token has expired. Please obtain a new token or refresh your existing token.")
	window := loopback.Error(http.StatusTooManyRequests, "rate_limit_error", "This request would exceed your account's rate limit. Please try again later.").
		With("anthropic-ratelimit-unified-status", "rejected").
		With("anthropic-ratelimit-unified-reset", fmt.Sprint(limitEnds)).
		With("anthropic-ratelimit-unified-representative-claim", "five_hour").
		With("anthropic-ratelimit-unified-overage-status", "rejected")
	return []scene{
		// Stream requests more output than Complete.
		plays("stream-ok", loopback.Text(hello)).streamed(),
		plays("stream-thinking", loopback.Join(loopback.Thinking("The user wants a greeting."), loopback.Text(hello))).streamed(),
		plays("stream-blocks", loopback.Join(loopback.Text("First."), loopback.Text("Second."))).streamed(),
		plays("stream-tool-remark", loopback.Join(loopback.Text("Let me look."), shell), done).by(clichain.AccessFull).streamed(),
		plays("stream-truncated-then-ok", half, loopback.Text(hello)).streamed().within(2 * tries),
		plays("stream-529", overloaded).streamed().within(tries),
		plays("stream-hang", loopback.Hang()).streamed().within(tries),
		plays("json-ok", loopback.Text(hello)).in(clispec.OutputJSON),
		plays("json-tool-full", shell, done).by(clichain.AccessFull).in(clispec.OutputJSON),
		plays("json-400", problem(home.Claude, http.StatusBadRequest)).in(clispec.OutputJSON),
		plays("json-loggedout", loopback.Text("never")).as(home.LoggedOut).in(clispec.OutputJSON),
		plays("subscription-ok", loopback.Text(hello)).as(home.Subscribed),
		plays("subscription-401", expired).as(home.Subscribed).within(tries),
		plays("subscription-limit", window).as(home.Subscribed).within(tries),
		plays("subscription-529", overloaded).as(home.Subscribed).within(tries),
		plays("billing", loopback.Error(http.StatusBadRequest, "invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.")),
		plays("413", loopback.Error(http.StatusRequestEntityTooLarge, "request_too_large", "Request exceeds the maximum size")),
		plays("529", overloaded).within(tries),
		plays("529-then-ok", overloaded, loopback.Text(hello)).within(2 * tries),
		plays("fails-inside", loopback.Fail("overloaded_error", "Overloaded")).within(tries),
		plays("max-turns", shell, shell).by(clichain.AccessFull).limited(clichain.Options{MaxTurns: 1}),
		plays("max-turns-remark", loopback.Join(loopback.Text("Let me look."), shell)).by(clichain.AccessFull).limited(clichain.Options{MaxTurns: 1}),
		plays("max-budget", shell, done).by(clichain.AccessFull).limited(clichain.Options{MaxBudgetUSD: 0.0000001}),
	}
}

func codexScenes() []scene {
	header := map[string]string{"Content-Type": "application/json"}
	return []scene{
		plays("plan-model", loopback.Status(http.StatusBadRequest, header,
			`{"detail": "The 'gpt-no-such-model' model is not supported when using Codex with a ChatGPT account."}`)).asking(unknownModels[home.Codex]),
		plays("usage-limit", loopback.Status(http.StatusTooManyRequests, header,
			fmt.Sprintf(`{"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus", "resets_at": %d, "resets_in_seconds": 90000}}`, limitEnds))),
		plays("quota", loopback.Error(http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")),
		plays("fails-inside-context", loopback.Fail("context_length_exceeded", "Your input exceeds the context window of this model.")),
		plays("fails-inside-overloaded", loopback.Fail("server_is_overloaded", "The model is overloaded.")).within(tries),
		plays("fails-inside-quota", loopback.Fail("insufficient_quota", "You exceeded your current quota.")),
		plays("fails-inside-rate", loopback.Fail("rate_limit_exceeded", "Rate limit reached for gpt-5.5. Please try again in 1s.")).within(tries),
	}
}

func geminiScenes() []scene {
	header := map[string]string{"Content-Type": "application/json"}
	daily := loopback.Status(http.StatusTooManyRequests, header, `{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
 "message": "You exceeded your current quota, please check your plan and billing details.",
 "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
  "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "250"}]}]}}`)
	minutely := loopback.Status(http.StatusTooManyRequests, header, `{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
 "message": "You exceeded your current quota, please check your plan and billing details.",
 "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},
  {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "43s"}]}}`)
	return []scene{
		plays("bad-key", loopback.Error(http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")),
		plays("closed", loopback.Text("never")).as(home.Subscribed),
		plays("json-closed", loopback.Text("never")).as(home.Subscribed).in(clispec.OutputJSON),
		plays("quota-day", daily).within(tries),
		plays("quota-minute", minutely).within(tries),
		plays("json-ok", loopback.Text(hello)).in(clispec.OutputJSON),
		plays("json-400", problem(home.Gemini, http.StatusBadRequest)).in(clispec.OutputJSON),
		plays("json-loggedout", loopback.Text("never")).as(home.LoggedOut).in(clispec.OutputJSON),
	}
}

func openCodeScenes() []scene {
	return []scene{
		plays("402", loopback.Error(http.StatusPaymentRequired, "insufficient_credits", "Insufficient credits. Add more to continue.")),
		plays("quota", loopback.Error(http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")).within(tries),
		plays("529", loopback.Error(529, "overloaded_error", "Overloaded")).within(tries),
		plays("known-model", problem(home.OpenCode, http.StatusNotFound)),                        // a configured model that the service does not have
		plays("lost-agent", loopback.Text("with all tools")).under("OPENCODE_CONFIG_CONTENT={}"), // simulates a CLI that ignores this variable
		plays("loggedout-nomodel", loopback.Text("never")).as(home.LoggedOut).within(tries),
	}
}

func piScenes() []scene {
	elsewhere := loopback.Tool("write", map[string]any{"path": "../out.txt", "content": "hello\n"})
	return []scene{
		plays("full", loopback.Full(loopback.Text(hello))),
		plays("fails-inside", loopback.Fail("server_error", "The server had an error while processing your request.")).within(tries),
		plays("quota", loopback.Error(http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")).within(tries),
		plays("tool-elsewhere", elsewhere, loopback.Text("Done.")).by(clichain.AccessWrite),
		plays("unknown-model", loopback.Text("never")).asking("nobody/no-such-model"),
		plays("bad-effort", loopback.Text("never")).limited(clichain.Options{Effort: "extreme"}),
	}
}

func kiloScenes() []scene {
	return []scene{
		plays("402", loopback.Error(http.StatusPaymentRequired, "insufficient_credits", "Insufficient credits. Add more to continue.")).within(tries),
		plays("full", loopback.Full(loopback.Text(hello))),
		plays("tool-elsewhere", loopback.Tool("write", map[string]any{"filePath": "../out.txt", "content": "hello\n"}), loopback.Text("Done.")).by(clichain.AccessWrite),
		plays("known-model", problem(home.Kilo, http.StatusNotFound)).within(tries),
		plays("lost-agent", loopback.Text("with all tools")).by(clichain.AccessRead).under("KILO_CONFIG_CONTENT={}"),
	}
}

func qwenScenes() []scene {
	return []scene{
		plays("json-ok", loopback.Text(hello)).in(clispec.OutputJSON),
		plays("json-401", problem(home.Qwen, http.StatusUnauthorized)).in(clispec.OutputJSON).within(tries),
		plays("quota", loopback.Error(http.StatusTooManyRequests, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")).within(tries),
		plays("says-error", loopback.Text("[API Error: 401 is what it said]")), // an answer of the model
		plays("max-turns", shell(home.Qwen, "echo ran"), shell(home.Qwen, "echo ran")).by(clichain.AccessFull).limited(clichain.Options{MaxTurns: 1}),
	}
}
