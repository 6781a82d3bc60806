package clichain_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

// bare has no rules of its own, so that only the common ones speak.
var bare = clichain.CliSpec{Name: "bare", Binary: "bare"}

func TestCommonWordings(t *testing.T) {
	engine := interpreterOf(t, bare)
	for reason, texts := range map[clichain.Reason][]string{
		clichain.ReasonUsageLimit: {
			"Claude AI usage limit reached|1762952400",
			"You've hit your limit · resets 2pm (Asia/Shanghai)",
			"You’ve hit your limit · resets Dec 3 at 9am",
			"You've hit your usage limit. Upgrade to Pro (https://example.com) or try again in 2 days 17 hours 14 minutes.",
			"Error: You've hit your usage limit … Your usage limits will reset when your monthly cycle ends on 11/17/2025.",
			`{"error":{"type":"usage_limit_reached","resets_in_seconds":3600}}`,
			"5-hour limit reached ∙ resets 7pm", "Weekly limit reached", "Opus limit reached",
			"You have exhausted your daily quota on this model.", "You have exhausted your capacity on this model. Your quota will reset after 5h12m3s.",
			"You have reached your session limit", "You've exceeded your monthly usage limit",
		},
		clichain.ReasonRateLimited: {
			"This request would exceed your account's rate limit. Please try again later.",
			"429 Too Many Requests", "rate_limit_error: slow down", "Rate limit exceeded", "rate-limited by upstream", "You are being rate limited",
			"status: RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", "unexpected status 429", "API Error: 429", "HTTP 429", "HTTP/1.1 429",
			"You exceeded your current quota, please check your plan and billing details.\nSuggested retry after 43s.",
			"Error code: 429 - slow down", `{"code":429}`, "status_code=429", "rate_limit_exceeded",
		},
		clichain.ReasonBilling: {
			"Your credit balance is too low to access the Anthropic API.", "insufficient_quota", "Billing hard limit has been reached",
			"API Error: 402", "payment required", "Insufficient funds", "You are out of credits",
		},
		clichain.ReasonUnauthenticated: {
			"Not logged in · Please run /login", "Please log in", "Please sign in to continue", "You are not signed in.", "Invalid API key · Fix external API key",
			"invalid x-api-key", "authentication_error: invalid x-api-key", "Incorrect API key provided: sk-***", "API key not valid. Please pass a valid API key.",
			"API key expired. Please renew the API key.", "OAuth token has expired", "token has been revoked", "Invalid bearer token", "invalid_api_key",
			"Authentication required. Please run 'agent login' first", "unexpected status 401 Unauthorized: Missing bearer", "401 Unauthorized", "API Error: 401",
			"API Error: 403", "HTTP 403 Forbidden", "UNAUTHENTICATED", "No API key found", "not authenticated",
		},
		clichain.ReasonOverloaded: {
			"overloaded_error: Overloaded", "API Error: 529", "The model is overloaded. Please try again later.", "Selected model is at capacity",
			"503 Service Unavailable", "server_error: API Error: 503 upstream failed", "upstream is temporarily unavailable", "status 503",
		},
		clichain.ReasonServerError: {
			"API Error: 500", "Internal Server Error", "internal_server_error", "server_error", "502 Bad Gateway", "504 Gateway Timeout", "status code 500",
		},
		clichain.ReasonNetwork: {
			"connect ECONNREFUSED 127.0.0.1:443", "getaddrinfo ENOTFOUND api.example.com", "fetch failed", "Connection error.", "socket hang up",
			"read ECONNRESET", "connect ETIMEDOUT 10.0.0.1:443", "network is unreachable", "Could not resolve host", "stream disconnected before completion",
			"error sending request for url (https://api.example.com/)", "Unable to connect to API", "getaddrinfo EAI_AGAIN x", "API Error: 408",
			"Cannot connect to API: The socket connection was closed unexpectedly.", "the connection was lost", "Failed to connect",
			"Request timed out.", "self signed certificate in certificate chain", "unable to get local issuer certificate",
		},
		clichain.ReasonBadModel: {
			"There's an issue with the selected model (opus-9). It may not exist or you may not have access to it.",
			"The model `gpt-9` does not exist or you do not have access to it.", "models/gemini-9 is not found for API version v1beta",
			"model_not_found", "Unknown model: x", "invalid model name", "No such model", "API Error: 404", "Model opus-9 is not available",
		},
		clichain.ReasonContextOverflow: {
			"prompt is too long: 210000 tokens > 200000 maximum", "Prompt is too long", "context_length_exceeded",
			"This model's maximum context length is 128000 tokens", "Your input exceeds the context window of this model",
			"input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000",
			"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "API Error: 413", "Input is too long for requested model",
			"API Error: 400 prompt is too long",
		},
		clichain.ReasonBadRequest:   {"API Error: 400", "HTTP 422", "status: 418", "Invalid request", "invalid_request_error"},
		clichain.ReasonUntrustedDir: {"Workspace trust required", "this is not a trusted directory", "The folder is not trusted"},
		clichain.ReasonNestedSession: {
			"Claude Code cannot be launched inside another Claude Code session.", "nested session detected",
		},
	} {
		for _, text := range texts {
			t.Run(string(reason)+"/"+text, func(t *testing.T) {
				for _, around := range []string{text, "warning: old node\n" + text + "\n    at main (cli.js:1:2)\n", "\t" + text} {
					got, ok := engine.judgeText(clichain.OnStderr, around, time.Now())
					require.True(t, ok, "%q", around)
					require.Equal(t, reason, got.Reason, "%q", around)
				}
			})
		}
	}
}

func TestNoWordings(t *testing.T) {
	for _, text := range []string{
		"", "done", "lines 418-429", "see page 401", "took 500ms", "port 5000", "429 files changed", "Read 503 lines", "401k plans", "step 404 of 500",
		"http://localhost:4290/", "exit status 1", "rate limiter", "unlimited", "v4.2.9", "error", "Error: something broke", "0x401", "a 529 b",
		"status 200", "status 42900", "code 5000", "HTTP/1.1 200 OK", "the model answered", "connected", "the context of the window", "tokens: 429",
		"loading credentials", "session started", "model gpt-5", "trusted directory",
	} {
		got, ok := interpreterOf(t, bare).judgeText(clichain.OnStderr, text, time.Now())
		require.False(t, ok, "%q is no %s", text, got.Reason)
	}
}

func TestStatuses(t *testing.T) {
	special := map[int]clichain.Reason{
		401: clichain.ReasonUnauthenticated, 402: clichain.ReasonBilling, 403: clichain.ReasonUnauthenticated, 404: clichain.ReasonBadModel,
		408: clichain.ReasonNetwork, 409: clichain.ReasonServerError, 413: clichain.ReasonContextOverflow, 429: clichain.ReasonRateLimited,
		503: clichain.ReasonOverloaded, 529: clichain.ReasonOverloaded,
	}
	for status := 400; status <= 599; status++ {
		want, ok := special[status]
		if !ok {
			want = clichain.ReasonBadRequest
			if status >= 500 {
				want = clichain.ReasonServerError
			}
		}
		require.Equal(t, want, clichain.ReasonOfStatus(status), "%d", status)
		got, ok := interpreterOf(t, bare).judgeText(clichain.OnStderr, "API Error: "+strconv.Itoa(status)+" x", time.Now())
		require.True(t, ok)
		require.Equal(t, want, got.Reason, "%d as text", status)
		got, ok = interpreterOf(t, bare).judgeEvent(clichain.Event{Kind: clichain.EventError, Status: status}, time.Now())
		require.True(t, ok)
		require.Equal(t, want, got.Reason, "%d as a field", status)
	}
	for _, status := range []int{-1, 0, 1, 100, 200, 302, 399, 600, 4290} {
		require.Empty(t, clichain.ReasonOfStatus(status), "%d", status)
	}
}

// Words come before the status: a 400 may be an overflow, a 429 the plan's end.
func TestWordsBeforeStatus(t *testing.T) {
	for _, test := range []struct {
		message string
		status  int
		want    clichain.Reason
	}{
		{"prompt is too long", 400, clichain.ReasonContextOverflow},
		{"usage limit reached", 429, clichain.ReasonUsageLimit},
		{"credit balance is too low", 400, clichain.ReasonBilling},
		{"API key expired. Please renew the API key.", 400, clichain.ReasonUnauthenticated},
		{"no idea", 429, clichain.ReasonRateLimited},
		{"server_error", 503, clichain.ReasonOverloaded}, // these words say less than the status
		{"server_error", 500, clichain.ReasonServerError},
		{"server_error", 0, clichain.ReasonServerError},
	} {
		got, ok := interpreterOf(t, bare).judgeEvent(clichain.Event{Kind: clichain.EventError, Message: test.message, Status: test.status}, time.Now())
		require.True(t, ok)
		require.Equal(t, test.want, got.Reason, test.message)
	}
}

// Services answer with JSON, and CLIs print it as it is.
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
		got, _ := interpreterOf(t, bare).judgeEvent(clichain.Event{Kind: clichain.EventError, Message: said}, time.Now())
		require.Equal(t, want, got.Message, said)
	}
}

// A spec's own rules come before the common ones, where they apply.
func TestOwnWordingsFirst(t *testing.T) {
	for _, test := range []struct {
		spec clichain.CliSpec
		on   clichain.Evidence
		text string
		want clichain.Reason
	}{
		{specs.Claude(), clichain.OnStderr, "No conversation found with session ID: 1", clichain.ReasonBadSession},
		{specs.Claude(), clichain.OnStderr, "error: unknown option '--tools'", clichain.ReasonUnsupported},
		{specs.Claude(), clichain.OnEvent, "error: unknown option '--tools'", ""},
		{specs.Claude(), clichain.OnStdout, "Your organization has disabled access", clichain.ReasonUnauthenticated},
		{specs.Codex(), clichain.OnEvent, "The model is not supported when using Codex with a ChatGPT account.", clichain.ReasonBadModel},
		{specs.Codex(), clichain.OnStderr, "Not inside a trusted directory", clichain.ReasonUntrustedDir},
		{specs.Gemini(), clichain.OnStderr, "Please set an Auth method", clichain.ReasonUnauthenticated},
		{specs.Gemini(), clichain.OnEvent, "Invalid auth method selected.", clichain.ReasonUnauthenticated},
		{specs.Gemini(), clichain.OnEvent, "[API Error: terminated]", clichain.ReasonNetwork},
		{specs.OpenCode(), clichain.OnEvent, "ProviderModelNotFoundError: x", clichain.ReasonBadModel},
		{specs.OpenCode(), clichain.OnStderr, "log\n\x1b[91m\x1b[1mError: \x1b[0mRate limit reached for m1", clichain.ReasonRateLimited},
		{specs.OpenCode(), clichain.OnStderr, "Error: boom", ""},
		{specs.Cursor(), clichain.OnStderr, "Cannot use this model: x", clichain.ReasonBadModel},
		{specs.Cursor(), clichain.OnStderr, "pass --trust to go on", clichain.ReasonUntrustedDir},
	} {
		got, _ := interpreterOf(t, test.spec).judgeText(test.on, test.text, time.Now())
		require.Equal(t, test.want, got.Reason, "%s: %s", test.spec.Name, test.text)
	}
}

// Only the end of a long text is searched: failures explain themselves last.
func TestEvidenceIsBounded(t *testing.T) {
	own := bare
	own.Lines = []clichain.LineRule{{Pattern: "^x", Reason: clichain.ReasonBilling}}
	long := strings.Repeat("x", 1<<20)
	got, ok := interpreterOf(t, own).judgeText(clichain.OnStderr, "API Error: 429\n"+long, time.Now())
	require.True(t, ok)
	require.Equal(t, clichain.ReasonBilling, got.Reason)
	require.Less(t, len(got.Message), 64<<10, "the message is of what was searched")
}
