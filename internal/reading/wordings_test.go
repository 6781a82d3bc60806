package reading

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/specs"
)

// bare is a spec without line rules, so that only the common rules apply.
var bare = clispec.Spec{Name: "bare", Binary: "bare"}

func TestCommonWordings(t *testing.T) {
	engine := interpreterOf(t, bare)
	for reason, texts := range map[call.Reason][]string{
		call.ReasonUsageLimit: {
			"Claude AI usage limit reached|1762952400",
			"You've hit your limit · resets 2pm (Asia/Shanghai)",
			"You’ve hit your limit · resets Dec 3 at 9am",
			"You've hit your usage limit. Upgrade to Pro (https://example.com) or try again in 2 days 17 hours 14 minutes.",
			"Error: You've hit your usage limit … Your usage limits will reset when your monthly cycle ends on 11/17/2025.",
			`{"error":{"type":"usage_limit_reached","resets_in_seconds":3600}}`,
			"5-hour limit reached ∙ resets 7pm", "Weekly limit reached", "Opus limit reached",
			"You have exhausted your daily quota on this model.", "You have exhausted your capacity on this model. Your quota will reset after 5h12m3s.",
			"Spending cap reached resets 5pm", "You will regain access on 2026-12-01 at 00:00 UTC.",
			"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
			"You have reached your session limit", "You've exceeded your monthly usage limit",
		},
		call.ReasonRateLimited: {
			"This request would exceed your account's rate limit. Please try again later.",
			"429 Too Many Requests", "rate_limit_error: slow down", "Rate limit exceeded", "rate-limited by upstream", "You are being rate limited",
			"status: RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", "unexpected status 429", "API Error: 429", "HTTP 429", "HTTP/1.1 429",
			"You exceeded your current quota, please check your plan and billing details.\nSuggested retry after 43s.",
			"Resource exhausted. Please try again later.", "429 Resource exhausted. Please try again later. Please refer to https://example.com",
			"Error code: 429 - slow down", `{"code":429}`, "status_code=429", "rate_limit_exceeded",
		},
		call.ReasonBilling: {
			"Your credit balance is too low to access the Anthropic API.", "insufficient_quota", "Billing hard limit has been reached",
			"API Error: 402", "payment required", "Insufficient funds", "You are out of credits",
		},
		call.ReasonUnauthenticated: {
			"Not logged in · Please run /login", "Please log in", "Please sign in to continue", "Please log out and sign in again.", "You are not signed in.", "Invalid API key · Fix external API key",
			"invalid x-api-key", "authentication_error: invalid x-api-key", "Incorrect API key provided: sk-***", "API key not valid. Please pass a valid API key.",
			"API key expired. Please renew the API key.", "OAuth token has expired", "token has been revoked", "Invalid bearer token", "invalid_api_key",
			"Authentication required. Please run 'agent login' first", "unexpected status 401 Unauthorized: Missing bearer", "401 Unauthorized", "API Error: 401",
			"API Error: 403", "HTTP 403 Forbidden", "UNAUTHENTICATED", "No API key found", "not authenticated",
		},
		call.ReasonOverloaded: {
			"overloaded_error: Overloaded", "API Error: 529", "The model is overloaded. Please try again later.", "Selected model is at capacity",
			"No capacity available for model gemini-2.5-pro on the server", `{"code":429,"message":"No capacity available for model m1","status":"RESOURCE_EXHAUSTED"}`,
			"503 Service Unavailable", "server_error: API Error: 503 upstream failed", "upstream is temporarily unavailable", "status 503",
		},
		call.ReasonServerError: {
			"API Error: 500", "Internal Server Error", "internal_server_error", "server_error", "502 Bad Gateway", "504 Gateway Timeout", "status code 500",
		},
		call.ReasonNetwork: {
			"connect ECONNREFUSED 127.0.0.1:443", "getaddrinfo ENOTFOUND api.example.com", "fetch failed", "Connection error.", "socket hang up",
			"read ECONNRESET", "connect ETIMEDOUT 10.0.0.1:443", "network is unreachable", "Could not resolve host", "stream disconnected before completion",
			"error sending request for url (https://api.example.com/)", "Unable to connect to API", "getaddrinfo EAI_AGAIN x", "API Error: 408",
			"Cannot connect to API: The socket connection was closed unexpectedly.", "the connection was lost", "Failed to connect",
			"Request timed out.", "self signed certificate in certificate chain", "unable to get local issuer certificate",
		},
		call.ReasonBadModel: {
			"There's an issue with the selected model (opus-9). It may not exist or you may not have access to it.",
			"The model `gpt-9` does not exist or you do not have access to it.", "models/gemini-9 is not found for API version v1beta",
			"model_not_found", "Unknown model: x", "invalid model name", "No such model", "API Error: 404", "Model opus-9 is not available",
		},
		call.ReasonContextOverflow: {
			"prompt is too long: 210000 tokens > 200000 maximum", "Prompt is too long", "context_length_exceeded",
			"This model's maximum context length is 128000 tokens", "Your input exceeds the context window of this model",
			"input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000",
			"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "API Error: 413", "Input is too long for requested model",
			"API Error: 400 prompt is too long",
		},
		call.ReasonBadRequest:   {"API Error: 400", "HTTP 422", "status: 418", "Invalid request", "invalid_request_error"},
		call.ReasonUntrustedDir: {"Workspace trust required", "this is not a trusted directory", "The folder is not trusted"},
		call.ReasonNestedSession: {
			"Claude Code cannot be launched inside another Claude Code session.", "nested session detected",
		},
	} {
		for _, text := range texts {
			t.Run(string(reason)+"/"+text, func(t *testing.T) {
				for _, around := range []string{text, "warning: old node\n" + text + "\n    at main (cli.js:1:2)\n", "\t" + text} {
					got, ok := engine.judgeText(clispec.OnStderr, around, time.Now())
					require.True(t, ok, "%q", around)
					require.Equal(t, reason, got.Reason, "%q", around)
				}
			})
		}
	}
}

func TestTextsWithoutReason(t *testing.T) {
	for _, text := range []string{
		"", "done", "lines 418-429", "see page 401", "took 500ms", "port 5000", "429 files changed", "Read 503 lines", "401k plans", "step 404 of 500",
		"http://localhost:4290/", "exit status 1", "rate limiter", "unlimited", "v4.2.9", "error", "Error: something broke", "0x401", "a 529 b",
		"status 200", "status 42900", "code 5000", "HTTP/1.1 200 OK", "the model answered", "connected", "the context of the window", "tokens: 429",
		"loading credentials", "session started", "model gpt-5", "trusted directory",
	} {
		got, ok := interpreterOf(t, bare).judgeText(clispec.OnStderr, text, time.Now())
		require.False(t, ok, "%q is no %s", text, got.Reason)
	}
}

func TestStatuses(t *testing.T) {
	special := map[int]call.Reason{
		401: call.ReasonUnauthenticated, 402: call.ReasonBilling, 403: call.ReasonUnauthenticated, 404: call.ReasonBadModel,
		408: call.ReasonNetwork, 409: call.ReasonServerError, 413: call.ReasonContextOverflow, 429: call.ReasonRateLimited,
		503: call.ReasonOverloaded, 529: call.ReasonOverloaded,
	}
	for status := 400; status <= 599; status++ {
		want, ok := special[status]
		if !ok {
			want = call.ReasonBadRequest
			if status >= 500 {
				want = call.ReasonServerError
			}
		}
		require.Equal(t, want, judge.ReasonOfStatus(status), "%d", status)
		got, ok := interpreterOf(t, bare).judgeText(clispec.OnStderr, "API Error: "+strconv.Itoa(status)+" x", time.Now())
		require.True(t, ok)
		require.Equal(t, want, got.Reason, "%d as text", status)
		got, ok = interpreterOf(t, bare).judgeEvent(call.Event{Kind: call.EventError, Status: status}, time.Now())
		require.True(t, ok)
		require.Equal(t, want, got.Reason, "%d as a field", status)
	}
	for _, status := range []int{-1, 0, 1, 100, 200, 302, 399, 600, 4290} {
		require.Empty(t, judge.ReasonOfStatus(status), "%d", status)
	}
}

// The text has precedence over the status: a 400 may be a context overflow, and a 429 the limit of a plan.
func TestTextOverridesStatus(t *testing.T) {
	for _, test := range []struct {
		message string
		status  int
		want    call.Reason
	}{
		{"prompt is too long", 400, call.ReasonContextOverflow},
		{"usage limit reached", 429, call.ReasonUsageLimit},
		{"credit balance is too low", 400, call.ReasonBilling},
		{"API key expired. Please renew the API key.", 400, call.ReasonUnauthenticated},
		{"no idea", 429, call.ReasonRateLimited},
		{"server_error", 503, call.ReasonOverloaded}, // this text is less specific than the status
		{"server_error", 500, call.ReasonServerError},
		{"server_error", 0, call.ReasonServerError},
	} {
		got, ok := interpreterOf(t, bare).judgeEvent(call.Event{Kind: call.EventError, Message: test.message, Status: test.status}, time.Now())
		require.True(t, ok)
		require.Equal(t, test.want, got.Reason, test.message)
	}
}

// Services respond with JSON, and CLIs print it unchanged.
func TestPlainMessages(t *testing.T) {
	for said, want := range map[string]string{
		`API Error: 400 {"type":"error","error":{"message":"too long"}}`: "API Error: 400: too long",
		`{"error":{"message":"slow down"}}`:                              "slow down",
		`{"message":"slow down"}`:                                        "slow down",
		`{"detail":"slow down"}`:                                         "slow down",
		`[{"message":"slow down"}]`:                                      "slow down",
		`API Error: {"error":{"message":"slow`:                           `API Error: {"error":{"message":"slow`,
		"API Error: {cut short":                                          "API Error: {cut short",
		"} {":                                                            "} {",
		"{":                                                              "{", "}": "}", "": "", "x {} y": "x {} y", `{"message":7}`: `{"message":7}`,
	} {
		got, _ := interpreterOf(t, bare).judgeEvent(call.Event{Kind: call.EventError, Message: said}, time.Now())
		require.Equal(t, want, got.Message, said)
	}
}

// A spec's own rules come before the common rules.
func TestSpecRulesPrecedeCommonRules(t *testing.T) {
	for _, test := range []struct {
		spec clispec.Spec
		on   clispec.Evidence
		text string
		want call.Reason
	}{
		{specs.Claude(), clispec.OnStderr, "No conversation found with session ID: 1", call.ReasonBadSession},
		{specs.Claude(), clispec.OnStderr, "error: unknown option '--tools'", call.ReasonUnsupported},
		{specs.Claude(), clispec.OnEvent, "error: unknown option '--tools'", ""},
		{specs.Claude(), clispec.OnStdout, "Your organization has disabled access", call.ReasonUnauthenticated},
		{specs.Codex(), clispec.OnEvent, "The model is not supported when using Codex with a ChatGPT account.", call.ReasonBadModel},
		{specs.Codex(), clispec.OnStderr, "Not inside a trusted directory", call.ReasonUntrustedDir},
		{specs.Gemini(), clispec.OnStderr, "Please set an Auth method", call.ReasonUnauthenticated},
		{specs.Gemini(), clispec.OnEvent, "Invalid auth method selected.", call.ReasonUnauthenticated},
		{specs.Gemini(), clispec.OnEvent, "This client is no longer supported for Gemini Code Assist for individuals.", call.ReasonUnauthenticated},
		{specs.Gemini(), clispec.OnStderr, "Authentication failed: IneligibleTierError: Your current account is not eligible for your age.", call.ReasonUnauthenticated},
		{specs.Gemini(), clispec.OnEvent, "[API Error: terminated]", call.ReasonNetwork},
		{specs.OpenCode(), clispec.OnEvent, "ProviderModelNotFoundError: x", call.ReasonBadModel},
		{specs.OpenCode(), clispec.OnStderr, "log\n\x1b[91m\x1b[1mError: \x1b[0mRate limit reached for m1", call.ReasonRateLimited},
		{specs.OpenCode(), clispec.OnStderr, "Error: boom", ""},
		{specs.Cursor(), clispec.OnStderr, "Cannot use this model: x", call.ReasonBadModel},
		{specs.Cursor(), clispec.OnStderr, "pass --trust to go on", call.ReasonUntrustedDir},
	} {
		got, _ := interpreterOf(t, test.spec).judgeText(test.on, test.text, time.Now())
		require.Equal(t, test.want, got.Reason, "%s: %s", test.spec.Name, test.text)
	}
}

// Only the end of a long text is searched, because failures are explained at the end.
func TestEvidenceIsLimited(t *testing.T) {
	own := bare
	own.Lines = []clispec.LineRule{{Pattern: "^x", Reason: call.ReasonBilling}}
	long := strings.Repeat("x", 1<<20)
	got, ok := interpreterOf(t, own).judgeText(clispec.OnStderr, "API Error: 429\n"+long, time.Now())
	require.True(t, ok)
	require.Equal(t, call.ReasonBilling, got.Reason)
	require.Less(t, len(got.Message), 64<<10, "the message comes from the searched part")
}
