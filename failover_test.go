package clichain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/specs"
)

// retryLine returns claude's event for a retry.
func retryLine(status int, code string) string {
	return fmt.Sprintf(`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":2000,"error_status":%d,"error":%q}`+"\n", status, code)
}

var (
	retry429 = retryLine(429, "rate_limit")
	retry529 = retryLine(529, "overloaded")
)

// stuck is a CLI that prints something and then retries for ever.
func stuck(says clitest.Step) clitest.Scenario {
	return play(readStdin, says, clitest.Step{Hang: true})
}

// If another backend can answer, an event about the CLI's own retries ends its run.
func TestEarlyFailover(t *testing.T) {
	suppressNothing(t)
	clitest.NoLeaks(t)
	text := blockLine("half an answer") + "\n"
	patience := clichain.Config{RetryPatience: 300 * time.Millisecond, Timeout: time.Minute}
	for name, test := range map[string]struct {
		spec   clichain.CliSpec
		says   clitest.Step
		reason clichain.Reason
		least  time.Duration
	}{
		"claude, 429":             {specs.Claude(), stdout(retry429), clichain.ReasonRateLimited, 0},
		"claude, 401":             {specs.Claude(), stdout(retryLine(401, "authentication_failed")), clichain.ReasonUnauthenticated, 0},
		"claude, overloaded":      {specs.Claude(), stdout(retry529), clichain.ReasonOverloaded, patience.RetryPatience},
		"claude, no status":       {specs.Claude(), stdout(`{"type":"system","subtype":"api_retry","attempt":1}` + "\n"), clichain.ReasonServerError, patience.RetryPatience},
		"claude, its plan":        {specs.Claude(), stdout(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1}}` + "\n"), clichain.ReasonUsageLimit, 0},
		"claude, after some text": {specs.Claude(), stdout(text + retry429), clichain.ReasonRateLimited, 0},
		"codex, 429":              {specs.Codex(), stdout(`{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}` + "\n"), clichain.ReasonRateLimited, 0},
		"gemini, 429":             {specs.Gemini(), clitest.Step{Stderr: "Attempt 1 failed with status 429. Retrying with backoff...\n"}, clichain.ReasonRateLimited, 0},
		"gemini, 500":             {specs.Gemini(), clitest.Step{Stderr: "Attempt 1 failed with status 500. Retrying with backoff...\n"}, clichain.ReasonServerError, patience.RetryPatience},
		"opencode, 500":           {specs.OpenCode(), clitest.Step{Stderr: `level=ERROR message="stream error" error.error="AI_APICallError: Internal server error"` + "\n"}, clichain.ReasonServerError, patience.RetryPatience},
		"opencode, limit":         {specs.OpenCode(), clitest.Step{Stderr: `level=ERROR message="stream error" error.error="AI_APICallError: Rate limit reached"` + "\n"}, clichain.ReasonRateLimited, 0},
		"an error, no end":        {specs.Claude(), stdout(`{"type":"assistant","error":"authentication_failed","message":{"content":[]}}` + "\n"), clichain.ReasonUnauthenticated, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clichain.ChainOf([]clichain.Backend{
				provider(t, test.spec, patience, stuck(test.says)),
				provider(t, named(specs.Codex(), "next"), patience, play(readStdin, stdout(codexAnswer("here")))),
			}, nil)
			resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, "here", resp.Text)
			require.Len(t, resp.Attempts, 1, "no second try of a CLI that retries by itself")
			first := resp.Attempts[0]
			require.Equal(t, test.reason, first.Reason, "%v", first.Err)
			require.GreaterOrEqual(t, first.Duration, test.least)
			require.Less(t, first.Duration, 20*time.Second)
			require.NotErrorIs(t, first.Err, clichain.ErrTimeout)
		})
	}
}

// If no other backend can answer, a CLI keeps its full time.
func TestTheLastBackendKeepsItsTime(t *testing.T) {
	suppressNothing(t)
	clitest.NoLeaks(t)
	short := clichain.Config{Timeout: 4 * time.Second} // for all of them to start at once
	limited := func(t *testing.T) clichain.Backend {
		return provider(t, specs.Claude(), short, stuck(stdout(retry429)))
	}
	healthy := func(t *testing.T) clichain.Backend {
		return provider(t, specs.Codex(), clichain.Config{}, play(readStdin, stdout(codexAnswer("here"))))
	}
	schema := clichain.Prompt("hi")
	schema.Options.MaxTurns = 1 // which codex cannot honor
	impatient := clichain.Config{Timeout: time.Minute}
	for name, test := range map[string]struct {
		chain func(t *testing.T) *clichain.Chain
		req   clichain.Request
		ended error // how the first backend's run ended
	}{
		"alone": {func(t *testing.T) *clichain.Chain {
			return clichain.ChainOf([]clichain.Backend{limited(t)}, nil)
		}, clichain.Prompt("hi"), clichain.ErrTimeout},
		"the next is not installed": {func(t *testing.T) *clichain.Chain {
			none := clichain.NewProvider(specs.Gemini(), &clichain.Config{Binary: "/nonexistent/gemini"})
			return clichain.ChainOf([]clichain.Backend{limited(t), none}, nil)
		}, clichain.Prompt("hi"), clichain.ErrTimeout},
		"the next cannot honour the request": {func(t *testing.T) *clichain.Chain {
			return clichain.ChainOf([]clichain.Backend{limited(t), healthy(t)}, nil)
		}, schema, clichain.ErrTimeout},
		"told to be patient": {func(t *testing.T) *clichain.Chain {
			patient := short
			patient.RetryPatience = -1
			return clichain.ChainOf([]clichain.Backend{provider(t, specs.Claude(), patient, stuck(stdout(retry429))), failing("b", clichain.ReasonEmpty)}, nil)
		}, clichain.Prompt("hi"), clichain.ErrTimeout},
		"last of a chain in a chain": {func(t *testing.T) *clichain.Chain {
			inner := clichain.ChainOf([]clichain.Backend{provider(t, specs.Claude(), impatient, stuck(stdout(retry429)))}, nil)
			return clichain.ChainOf([]clichain.Backend{inner, failing("b", clichain.ReasonEmpty)}, nil)
		}, clichain.Prompt("hi"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.chain(t).Complete(t.Context(), test.req)
			require.ErrorIs(t, err, clichain.ErrRateLimited)
			if test.ended != nil {
				require.ErrorIs(t, err, test.ended)
			} else {
				require.NotErrorIs(t, err, clichain.ErrTimeout)
			}
		})
	}
}

// A CLI that recovers from an overload in time is not interrupted.
func TestOverloadThatPasses(t *testing.T) {
	suppressNothing(t)
	clitest.NoLeaks(t)
	c := clichain.ChainOf([]clichain.Backend{
		provider(t, specs.Claude(), clichain.Config{RetryPatience: 500 * time.Millisecond, Timeout: time.Minute}, play(readStdin,
			stdout(retry529), stdout(blockLine("late")+"\n"), clitest.Step{Sleep: time.Second}, stdout(resultLine("late")+"\n"))),
		failing("b", clichain.ReasonEmpty),
	}, nil)
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "late", resp.Text)
}

// A run that may have had side effects is not interrupted, because the chain would end there.
func TestNoFailoverAfterWhatCannotBeUndone(t *testing.T) {
	suppressNothing(t)
	clitest.NoLeaks(t)
	cfg := clichain.Config{Timeout: 3 * time.Second}
	t.Run("tool with write access", func(t *testing.T) {
		t.Parallel()
		next := &backend{name: "next"}
		c := clichain.ChainOf([]clichain.Backend{provider(t, specs.Claude(), cfg, stuck(stdout(toolUse+"\n"+retry429))), next}, nil)
		req := clichain.Prompt("hi")
		req.Access = clichain.AccessWrite
		_, err := c.Complete(t.Context(), req)
		require.ErrorIs(t, err, clichain.ErrTimeout)
		require.Zero(t, next.asked)
	})
	t.Run("text already delivered", func(t *testing.T) {
		t.Parallel()
		next := &backend{name: "next"}
		c := clichain.ChainOf([]clichain.Backend{provider(t, specs.Claude(), cfg, stuck(stdout(blockLine("half")+"\n"+retry429))), next}, nil)
		_, err := call.Collect(c.Stream(t.Context(), clichain.Prompt("hi")))
		require.ErrorIs(t, err, clichain.ErrTimeout)
		require.Zero(t, next.asked)
	})
}

// blockLine returns a whole block of claude's text.
func blockLine(text string) string {
	return `{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}`
}

// toolUse is claude's event for a tool.
const toolUse = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`

// failedLine is claude's last event after a failure.
func failedLine(text string) string {
	return `{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"` + text + `"}`
}
