package reading

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// The output of the CLIs when a limit of the service makes them retry, followed by their output after the
// recovery.
var (
	geminiRetry = "Attempt 1 failed with status 429. Retrying with backoff... _ApiError: {\"error\":{\"code\":429}}\n    at fetch (bundle.js:1:2) {\n  status: 429\n}\n"
	geminiText  = `{"type":"message","role":"assistant","content":"so far","delta":true}` + "\n"

	openCodeRetry = `level=ERROR message="stream error" error.error="AI_APICallError: Rate limit reached for m1."` + "\n"
	openCodeText  = `{"type":"text","sessionID":"s","part":{"text":"so far"}}` + "\n"

	codexRetry = `{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}` + "\n"
	codexText  = `{"type":"item.completed","item":{"type":"agent_message","text":"so far"}}` + "\n"
)

// A retry explains the end of a run only if the CLI has not recovered from it.
func TestRetryWithRecovery(t *testing.T) {
	again := specs.Gemini()
	again.Events = append(again.Events, clispec.EventRule{Match: map[string]string{"type": "again"}, Kind: call.EventRetry})
	killed, timedOut := Recording{ExitCode: -1, Signal: "SIGKILL"}, Recording{TimedOut: true}
	for _, test := range []struct {
		name           string
		spec           clispec.Spec
		rec            Recording
		stdout, stderr string
		want           call.Reason
	}{
		{"gemini, killed", specs.Gemini(), killed, geminiText, geminiRetry, call.ReasonKilled},
		{"gemini, killed while it retries", specs.Gemini(), killed, "", geminiRetry, call.ReasonRateLimited},
		{"gemini, timeout", specs.Gemini(), timedOut, geminiText, geminiRetry, call.ReasonTimeout},
		{"gemini, timeout while it retries", specs.Gemini(), timedOut, "", geminiRetry, call.ReasonRateLimited},
		{"gemini, killed while it retries again", again, killed, geminiText + `{"type":"again"}`, geminiRetry, call.ReasonRateLimited},
		{"gemini, in other words", specs.Gemini(), timedOut, "", "Attempt 1 failed with 429 error (no Retry-After header). Retrying with backoff...\n", call.ReasonRateLimited},
		{"gemini, what it said after the retry", specs.Gemini(), killed, geminiText, geminiRetry + "Please set an Auth method\n", call.ReasonUnauthenticated},
		{"opencode, killed", specs.OpenCode(), killed, openCodeText, openCodeRetry, call.ReasonKilled},
		{"opencode, killed while it retries", specs.OpenCode(), killed, "", openCodeRetry, call.ReasonRateLimited},
		{"opencode, timeout", specs.OpenCode(), timedOut, openCodeText, openCodeRetry, call.ReasonTimeout},
		{"claude, timeout", specs.Claude(), timedOut, retry429 + blockLine("so far"), "", call.ReasonTimeout},
		{"claude, a retry again", specs.Claude(), timedOut, retry429 + blockLine("so far") + "\n" + retry529, "", call.ReasonOverloaded},
		{"claude, the echo of our signal", specs.Claude(), timedOut, retry429 + failedLine("interrupted"), "", call.ReasonRateLimited},
		{"codex, timeout", specs.Codex(), timedOut, codexRetry + codexText, "", call.ReasonTimeout},
		{"codex, timeout while it retries", specs.Codex(), timedOut, codexRetry, "", call.ReasonRateLimited},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.rec.Output, test.rec.Stdout, test.rec.Stderr = clispec.OutputStream, test.stdout, test.stderr
			_, _, failure, _ := Replay(test.spec, test.rec)
			require.NotNil(t, failure)
			require.Equal(t, test.want, failure.Reason, "%v", failure)
		})
	}
}

// The end of a limit comes from an exact time, else from a text, else from a delay of a retry, if only the
// service can have requested that delay.
func TestLimitEnd(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 20, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return now.Add(d) }
	limit := func(status, reset string) string {
		return `{"type":"rate_limit_event","rate_limit_info":{"status":"` + status + `"` + reset + `}}` + "\n"
	}
	const resetsAt = `,"resetsAt":1795299990` // 2026-11-21T22:26:30Z
	exact := time.Date(2026, 11, 21, 22, 26, 30, 0, time.UTC)
	words := failedLine("You've hit your limit · resets 10:26pm (UTC)")
	retry := func(try, ms string) string {
		return `{"type":"system","subtype":"api_retry","attempt":` + try + `,"retry_delay_ms":` + ms + `,"error_status":429,"error":"rate_limit"}` + "\n"
	}
	gemini := "Attempt 1 failed: You exceeded your current quota, please check your plan and billing details.\nSuggested retry after 43s.. Retrying after 48911ms...\n"
	for _, test := range []struct {
		name string
		spec clispec.Spec
		rec  Recording
		want time.Time
	}{
		{"an exact time and words", specs.Claude(), Recording{Stdout: limit("rejected", resetsAt) + words}, exact},
		{"words alone", specs.Claude(), Recording{Stdout: words}, exact.Truncate(time.Minute)},
		{"a limit that was hit, without a time", specs.Claude(), Recording{Stdout: limit("rejected", "") + words}, exact.Truncate(time.Minute)},
		{"a limit that was not hit", specs.Claude(), Recording{Stdout: limit("allowed_warning", `,"resetsAt":1795400000`) + words}, exact.Truncate(time.Minute)},
		{"a limit that was not hit, and no words", specs.Claude(), Recording{Stdout: limit("allowed_warning", resetsAt) + failedLine("usage limit reached")}, time.Time{}},
		{"a limit that was not hit, and a short one", specs.Claude(), Recording{Stdout: limit("allowed", resetsAt) + retry("1", "30666") + failedLine("API Error: 429 Too many requests")}, time.Time{}},
		{"a limit that was hit, and then not", specs.Claude(), Recording{Stdout: limit("rejected", resetsAt) + limit("allowed", "") + failedLine("API Error: 429 Too many requests")}, time.Time{}},
		{"a limit that was hit and got over", specs.Claude(), Recording{Stdout: limit("rejected", resetsAt) + blockLine("so far") + "\n" + failedLine("API Error: 429 Too many requests")}, time.Time{}},
		{"nothing says when", specs.Claude(), Recording{Stdout: limit("rejected", "") + failedLine("usage limit reached")}, time.Time{}},
		{"a pause that the service asked for", specs.Claude(), Recording{Stdout: retry("1", "30666"), TimedOut: true}, at(30666 * time.Millisecond)},
		{"access that is regained", specs.Claude(), Recording{Stdout: failedLine("API Error: 400 You have reached your specified API usage limits. You will regain access on 2026-11-25 at 00:00 UTC.")}, time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)},
		{"only access that is regained", specs.Claude(), Recording{Stdout: failedLine("You will regain access on 2026-11-25 at 00:00 UTC.")}, time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)},
		{"an exact time and a pause", specs.Claude(), Recording{Stdout: limit("rejected", resetsAt) + retry("1", "30666"), TimedOut: true}, exact},
		{"the CLI's own first pause", specs.Claude(), Recording{Stdout: retry("1", "1184"), TimedOut: true}, time.Time{}},
		{"the CLI's own fifth pause", specs.Claude(), Recording{Stdout: retry("5", "9985"), TimedOut: true}, time.Time{}},
		{"the CLI's own hundredth pause", specs.Claude(), Recording{Stdout: retry("100", "40000"), TimedOut: true}, time.Time{}},
		{"another failure ended the run", specs.Claude(), Recording{Stdout: retry("1", "30666") + failedLine("API Error: 500 boom")}, time.Time{}},
		{"words of a retry", specs.Codex(), Recording{Stdout: `{"type":"error","message":"Reconnecting... 1/5 (Rate limit reached. Please try again in 20s.)"}` + "\n", TimedOut: true}, at(20 * time.Second)},
		{"gemini says it on the next line", specs.Gemini(), Recording{Stderr: gemini, TimedOut: true}, at(43 * time.Second)},
		{"gemini says it on the same line", specs.Gemini(), Recording{Stderr: "Attempt 1 failed: You exceeded your current quota. Retrying after 60000ms...\n", TimedOut: true}, at(time.Minute)},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.rec.Output, test.rec.Now = clispec.OutputStream, now
			_, _, failure, _ := Replay(test.spec, test.rec)
			require.NotNil(t, failure)
			require.Equal(t, test.want, failure.RetryAfter, "%v", failure)
		})
	}
}

// A retry of an attempt without any response has no status.
func TestRetryWithoutStatus(t *testing.T) {
	line := func(code, status string) string {
		return `{"type":"system","subtype":"api_retry","attempt":1,"error_status":` + status + `,"error":"` + code + `"}`
	}
	for _, test := range []struct {
		line string
		want call.Reason
	}{
		{line("unknown", "null"), call.ReasonNetwork},
		{line("unknown", "500"), call.ReasonServerError},
		{line("overloaded", "null"), call.ReasonOverloaded},
		{line("server_error", "503"), call.ReasonOverloaded},
	} {
		_, _, failure, _ := Replay(specs.Claude(), Recording{Output: clispec.OutputStream, Stdout: test.line, TimedOut: true})
		require.NotNil(t, failure)
		require.Equal(t, test.want, failure.Reason, test.line)
	}
}
