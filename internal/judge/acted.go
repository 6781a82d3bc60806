package judge

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// ofTurn reports whether an event shows that the model has begun to answer. A request that the service refused
// causes no such event.
func ofTurn(e *call.Event) bool {
	switch e.Kind {
	case call.EventDelta, call.EventText, call.EventThinking, call.EventToolUse, call.EventToolResult,
		call.EventStatus, call.EventCompact, call.EventUsage:
		return true
	case call.EventResult:
		return !e.Failed || tokens(e.Usage)
	}
	return false
}

func tokens(u call.Usage) bool {
	return u.InputTokens+u.OutputTokens+u.CacheReadTokens+u.CacheWriteTokens+u.ReasoningTokens > 0
}

// refusals are the failures in which the service, or the CLI itself, rejects a request and does nothing else.
var refusals = map[call.Reason]bool{
	call.ReasonUnauthenticated: true, call.ReasonRateLimited: true, call.ReasonUsageLimit: true, call.ReasonBilling: true,
	call.ReasonOverloaded: true, call.ReasonServerError: true, call.ReasonBadModel: true, call.ReasonContextOverflow: true,
	call.ReasonBadRequest: true,
}

// neverBegan are the failures of a CLI that refuses to start its work.
var neverBegan = map[call.Reason]bool{
	call.ReasonUnsupported: true, call.ReasonBadOption: true, call.ReasonBadSession: true, call.ReasonUntrustedDir: true,
	call.ReasonPermissionRefused: true, call.ReasonNestedSession: true,
}

// Acting reports whether the agent may already have begun to use a tool, in a run that shows tool events as
// given by shown.
func (t *Tally) Acting(shown clispec.ToolEvents) bool {
	return t.Tools > 0 || shown == clispec.ToolsNever || shown == clispec.ToolsAtEnd && t.turn
}

// Acted reports whether the agent may have used a tool in a run that has ended: the run showed a tool, or its
// events cannot rule one out. err is the result of the run; nil means an answer.
func (j *Judge) Acted(ev *Evidence, err *call.Error) bool {
	t, shown := ev.Tally, j.spec.ToolEventsIn(ev.Output)
	switch {
	case t.Tools > 0 || ev.Lost:
		return true
	case err == nil:
		return shown == clispec.ToolsNever
	case shown == clispec.ToolsAtStart || !t.turn && neverBegan[err.Reason]:
		return false
	case shown == clispec.ToolsAtEnd:
		return t.turn || !refusals[err.Reason]
	}
	return !refusals[err.Reason] || !t.refusedAtOnce()
}

// refusedAtOnce reports whether a failed result counts one turn of the model without usage, which means that
// the first request of the run was refused. A result that counts no turns is no evidence.
func (t *Tally) refusedAtOnce() bool {
	return !t.turn && t.Terminal != nil && t.Terminal.Usage.Turns == 1
}
