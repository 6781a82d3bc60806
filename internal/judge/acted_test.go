package judge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// A failed result shows that the model has begun to answer if it counts tokens of any kind.
func TestFailedResultWithTokensIsTurn(t *testing.T) {
	for name, test := range map[string]struct {
		usage call.Usage
		want  bool
	}{
		"none":        {call.Usage{}, false},
		"only turns":  {call.Usage{Turns: 1}, false},
		"input":       {call.Usage{InputTokens: 1}, true},
		"output":      {call.Usage{OutputTokens: 1}, true},
		"cache read":  {call.Usage{CacheReadTokens: 1}, true},
		"cache write": {call.Usage{CacheWriteTokens: 1}, true},
		"reasoning":   {call.Usage{ReasoningTokens: 1}, true},
	} {
		require.Equal(t, test.want, ofTurn(&call.Event{Kind: call.EventResult, Failed: true, Usage: test.usage}), name)
	}
	require.True(t, ofTurn(&call.Event{Kind: call.EventResult}), "an answer")
}

// A turn of the model has begun as soon as its text, its thinking or a tool has arrived. The events that a CLI prints on
// its own are no evidence.
func TestEventsOfTurn(t *testing.T) {
	for kind, want := range map[call.EventKind]bool{
		call.EventDelta: true, call.EventText: true, call.EventThinking: true, call.EventToolUse: true,
		call.EventToolResult: true, call.EventStatus: true, call.EventCompact: true, call.EventUsage: true,
		call.EventSession: false, call.EventRetry: false, call.EventLimit: false, call.EventWarning: false,
		call.EventError: false, call.EventRaw: false, call.EventReset: false,
	} {
		require.Equal(t, want, ofTurn(&call.Event{Kind: kind}), kind)
	}
}

// During a run, a tool may be at work as soon as the turn has begun, unless the CLI reports the start of a tool.
func TestActing(t *testing.T) {
	for name, test := range map[string]struct {
		events string
		shown  clispec.ToolEvents
		want   bool
	}{
		"a tool":                         {"tool_use", clispec.ToolsAtStart, true},
		"the end of a tool":              {"tool_result", clispec.ToolsAtStart, true},
		"text before a reported start":   {"text:A", clispec.ToolsAtStart, false},
		"text before a reported end":     {"text:A", clispec.ToolsAtEnd, true},
		"no turn before a reported end":  {"session", clispec.ToolsAtEnd, false},
		"no reports":                     {"session", clispec.ToolsNever, true},
		"no reports, and nothing before": {"", clispec.ToolsNever, true},
	} {
		tally, _ := tallied(clispec.AnswerAfterTools, test.events)
		require.Equal(t, test.want, tally.Acting(test.shown), name)
	}
}

// After a run, reported tools decide. Without reports, a run changed nothing only if it was refused before the turn.
func TestActed(t *testing.T) {
	const never, atStart, atEnd = clispec.ToolsNever, clispec.ToolsAtStart, clispec.ToolsAtEnd
	for name, test := range map[string]struct {
		events string
		shown  clispec.ToolEvents
		reason call.Reason // "": an answer
		turns  int64       // of the terminal event; 0: there is none
		lost   bool
		want   bool
	}{
		"a tool, and an answer":             {events: "tool_use", shown: atStart, want: true},
		"lost output":                       {shown: atStart, lost: true, want: true},
		"answer, tools reported at start":   {events: "text:A", shown: atStart, want: false},
		"answer, tools reported at end":     {events: "text:A", shown: atEnd, want: false},
		"answer, tools never reported":      {events: "text:A", shown: never, want: true},
		"failed, reported at start":         {events: "text:A", shown: atStart, reason: call.ReasonExit, want: false},
		"refused to start":                  {shown: never, reason: call.ReasonBadOption, want: false},
		"refused to start, reported at end": {shown: atEnd, reason: call.ReasonUntrustedDir, want: false},
		"refused after the turn began":      {events: "text:A", shown: never, reason: call.ReasonBadOption, want: true},
		"refused by the service, at end":    {shown: atEnd, reason: call.ReasonBilling, want: false},
		"turn began, at end":                {events: "text:A", shown: atEnd, reason: call.ReasonBilling, want: true},
		"other failure, at end":             {shown: atEnd, reason: call.ReasonTimeout, want: true},
		"refused at once":                   {shown: never, reason: call.ReasonRateLimited, turns: 1, want: false},
		"refused in the second turn":        {shown: never, reason: call.ReasonRateLimited, turns: 2, want: true},
		"refused, and turns not reported":   {shown: never, reason: call.ReasonRateLimited, want: true},
		"refused at once after text":        {events: "text:A", shown: never, reason: call.ReasonRateLimited, turns: 1, want: true},
		"other failure in the first turn":   {shown: never, reason: call.ReasonTimeout, turns: 1, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			tally, _ := tallied(clispec.AnswerAfterTools, test.events)
			if test.turns > 0 {
				tally.Add(terminal(call.Event{Kind: call.EventResult, Failed: true, Usage: call.Usage{Turns: test.turns}}))
			}
			var err *call.Error
			if test.reason != "" {
				err = &call.Error{Reason: test.reason}
			}
			j := New(&clispec.Spec{ToolEvents: test.shown})
			require.Equal(t, test.want, j.Acted(&Evidence{Output: clispec.OutputStream, Tally: tally, Lost: test.lost}, err))
		})
	}
}
