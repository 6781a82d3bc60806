package reading

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

// A run that clichain stopped reports its cost in a result that is no terminal event.
func TestUsageOfStoppedRun(t *testing.T) {
	_, _, failure, _ := Replay(specs.Claude(), Recording{Output: clispec.OutputStream, TimedOut: true,
		Stdout: `{"type":"result","subtype":"error_during_execution","is_error":true,"usage":{"input_tokens":12,"output_tokens":7}}` + "\n"})
	require.ErrorIs(t, failure, call.ErrTimeout)
	require.Equal(t, call.Usage{InputTokens: 12, OutputTokens: 7}, failure.Usage)
}

func TestUsageAddsUp(t *testing.T) {
	step := func(cost string) string {
		return `{"type":"step_finish","sessionID":"s","part":{"reason":"tool-calls","cost":` + cost + `,"tokens":{"input":10,"output":1,"reasoning":2,"cache":{"read":3,"write":4}}}}`
	}
	last := strings.Replace(step("0.5"), "tool-calls", "stop", 1)
	text := `{"type":"text","sessionID":"s","part":{"text":"A"}}`
	replay := func(lines ...string) call.Usage {
		_, resp, failure, _ := Replay(specs.OpenCode(), Recording{Output: clispec.OutputStream, Stdout: strings.Join(lines, "\n")})
		require.Nil(t, failure)
		return resp.Usage
	}
	require.Equal(t, call.Usage{InputTokens: 20, OutputTokens: 2, ReasoningTokens: 4, CacheReadTokens: 6, CacheWriteTokens: 8, Turns: 2, CostUSD: new(0.75)},
		replay(step("0.25"), text, last))
	require.Nil(t, replay(step("0"), text, strings.Replace(last, "0.5", "0", 1)).CostUSD, "unknown cost")
}

// opencode stops at the model's output limit, and reports that only in a finish reason.
func TestModelOutputLimit(t *testing.T) {
	full := `{"type":"step_finish","sessionID":"s","part":{"reason":"length","tokens":{"output":7}}}` + "\n"
	text, resp, failure, _ := Replay(specs.OpenCode(), Recording{Output: clispec.OutputStream, Stdout: openCodeText + full})
	require.Nil(t, failure)
	require.Equal(t, "so far", text)
	require.Equal(t, []string{"the answer was cut short: the model's output limit was reached"}, resp.Warnings)
	_, _, failure, _ = Replay(specs.OpenCode(), Recording{Output: clispec.OutputStream, Stdout: full})
	require.Equal(t, call.ReasonBadOutput, failure.Reason, "there is no text")
}
