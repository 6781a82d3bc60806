package reading

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/resettime"
	"github.com/clichain/clichain/specs"
)

// limitWords are complete messages of backends that have reached a limit.
var limitWords = []struct {
	words  string
	reason call.Reason
	want   time.Time
}{
	{"Claude AI usage limit reached|1795300000", call.ReasonUsageLimit, time.Unix(1795300000, 0)},
	{"You've hit your limit · resets Nov 21, 10:26pm (UTC)", call.ReasonUsageLimit, utc(21, 22, 26)},
	{"You’ve hit your limit · resets 2pm (UTC)", call.ReasonUsageLimit, utc(21, 14, 0)},
	{"You've hit your weekly limit · resets Mon 9am", call.ReasonUsageLimit, home(23, 9, 0)},
	{"5-hour limit reached ∙ resets 7pm", call.ReasonUsageLimit, home(20, 19, 0)},
	{"Opus weekly limit reached ∙ resets Nov 23, 9am", call.ReasonUsageLimit, home(23, 9, 0)},
	{"You're out of extra usage · resets 4am (UTC)", call.ReasonUsageLimit, utc(21, 4, 0)},
	{"Claude usage limit reached. Your limit will reset at 7pm (UTC).", call.ReasonUsageLimit, utc(20, 19, 0)},
	{"You've hit your usage limit. Upgrade to Pro (https://example.com/pro) or try again in 2 days 17 hours 14 minutes.", call.ReasonUsageLimit, in(65*time.Hour + 14*time.Minute)},
	{"You’ve hit your usage limit. Upgrade to Pro (https://example.com/pro), visit https://example.com to purchase more credits or try again at Nov 21st, 2026 10:26 PM.", call.ReasonUsageLimit, home(21, 22, 26)},
	{"You've hit your usage limit. Try again in less than a minute.", call.ReasonUsageLimit, in(time.Minute)},
	{`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1795300000,"resets_in_seconds":3600}}`, call.ReasonUsageLimit, time.Unix(1795300000, 0)},
	{`{"error":{"resets_in_seconds":3600,"type":"usage_limit_reached"}}`, call.ReasonUsageLimit, in(time.Hour)},
	{"Error: You've hit your usage limit for Opus. Your usage limits will reset when your monthly cycle ends on 11/22/2026.", call.ReasonUsageLimit, home(22, 0, 0)},
	{"Error: You've hit your usage limit … Your usage limits will reset when your monthly cycle ends on 11/17/2025.", call.ReasonUsageLimit, resetNow},
	{"You have exhausted your capacity on this model. Your quota will reset after 5h12m3s.", call.ReasonUsageLimit, in(5*time.Hour + 12*time.Minute + 3*time.Second)},
	{"Usage limit reached for all Pro models.\nAccess resets at 11:30 PM GMT+1.\n/stats for usage details", call.ReasonUsageLimit, utc(20, 22, 30)},
	{"Free daily quota exceeded. Quota resets at midnight UTC", call.ReasonUsageLimit, utc(21, 0, 0)},
	{"You have reached your monthly quota. It renews on December 1, 2026.", call.ReasonUsageLimit, in(resettime.Longest)},
	{"You've hit your usage limit. Please try again later.", call.ReasonUsageLimit, time.Time{}},
	{"Please try again later: usage limit reached", call.ReasonUsageLimit, time.Time{}},

	{"rate limit exceeded: Rate limit reached. Please try again in 1s.", call.ReasonRateLimited, in(time.Second)},
	{"Rate limit reached for gpt-9 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2.5s.", call.ReasonRateLimited, in(2500 * time.Millisecond)},
	{"429 Too Many Requests\nRetry-After: 30\n", call.ReasonRateLimited, in(30 * time.Second)},
	{"rate_limit_error: try again later.\nretry-after: 30\n", call.ReasonRateLimited, in(30 * time.Second)},
	{"Please wait 20 seconds: rate limit", call.ReasonRateLimited, in(20 * time.Second)},
	{`{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"38.5s"}]}}`, call.ReasonRateLimited, in(38500 * time.Millisecond)},
	{"You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: x, limit: 10\nPlease retry in 38.4s.", call.ReasonRateLimited, in(38400 * time.Millisecond)},
	{"This request would exceed your account's rate limit. Please try again later.", call.ReasonRateLimited, time.Time{}},
	{"429 Too Many Requests at cli.js:418-429", call.ReasonRateLimited, time.Time{}},
	{"The model is overloaded. Please try again in 30 seconds.", call.ReasonOverloaded, in(30 * time.Second)},

	{"You exceeded your current quota, please check your plan and billing details.", call.ReasonBilling, time.Time{}},
	{"Quota exceeded. Check your plan and billing details.", call.ReasonBilling, time.Time{}},
}

// Every message about a limit gives the end of the limit, wherever a CLI prints it.
func TestLimitMessagesGiveEnd(t *testing.T) {
	for _, spec := range append(specs.Every(), bare) {
		engine := interpreterOf(t, spec)
		for _, test := range limitWords {
			t.Run(spec.Name+"/"+test.words, func(t *testing.T) {
				for _, on := range []clispec.Evidence{clispec.OnEvent, clispec.OnStderr, clispec.OnStdout} {
					got, ok := engine.judgeText(on, test.words, resetNow)
					require.True(t, ok)
					require.Equal(t, test.reason, got.Reason, on)
					require.True(t, test.want.Equal(got.RetryAfter), "%s: got %v, want %v", on, got.RetryAfter, test.want)
				}
				got, ok := engine.judgeEvent(call.Event{Kind: call.EventError, Message: test.words, Status: 429}, resetNow)
				require.True(t, ok)
				require.Equal(t, test.reason, got.Reason)
				require.True(t, test.want.Equal(got.RetryAfter), got.RetryAfter)
			})
		}
	}
}

// Other lines around a message change nothing.
func TestLimitsAmongOtherLines(t *testing.T) {
	engine := interpreterOf(t, bare)
	for _, test := range limitWords {
		text := "warning: retry 3 of 5, see lines 418-429\n" + test.words + "\n    at main (cli.js:1:2)\n  status: 429\n"
		got, ok := engine.judgeText(clispec.OnStderr, text, resetNow)
		require.True(t, ok)
		require.Equal(t, test.reason, got.Reason, text)
		require.True(t, test.want.Equal(got.RetryAfter), "%q: %v", text, got.RetryAfter)
	}
}

// Text of the model about limits is no evidence.
func TestModelTextIsNoLimit(t *testing.T) {
	for _, test := range limitWords {
		quoted, err := json.Marshal(test.words)
		require.NoError(t, err)
		for _, end := range []string{"", `{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"it broke"}` + "\n"} {
			_, _, failure, _ := Replay(specs.Claude(), Recording{
				Output: clispec.OutputStream, ExitCode: 1, Now: resetNow,
				Stdout: `{"type":"assistant","message":{"content":[{"type":"text","text":` + string(quoted) + `}]}}` + "\n" + end,
			})
			require.NotNil(t, failure)
			require.NotContains(t, []call.Reason{call.ReasonUsageLimit, call.ReasonRateLimited, call.ReasonBilling, call.ReasonOverloaded}, failure.Reason)
			require.Zero(t, failure.RetryAfter)
		}
	}
}
