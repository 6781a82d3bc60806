package specs

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// acpLive is the live mode of a CLI with the Agent Client Protocol. Each context has a session, and the response to a
// prompt ends its turn.
func acpLive(more ...clispec.EventRule) clispec.LiveRules {
	const chosen = `{"outcome":{"outcome":"selected","optionId":{option:json}}}`
	message := func(method, params string) []clispec.LiveMessage {
		return []clispec.LiveMessage{{Method: method, Params: params}}
	}
	r := clispec.LiveRules{
		Envelope: clispec.EnvelopeJSONRPC,
		Ready: message(
			"initialize",
			`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false}}`,
		),
		Open:    message("session/new", `{"cwd":{dir:json},"mcpServers":[]}`),
		Resume:  message("session/resume", `{"sessionId":{session:json},"cwd":{dir:json},"mcpServers":[]}`),
		Context: "sessionId", Of: "params.sessionId",
		Turn:      message("session/prompt", `{"sessionId":{context:json},"prompt":[{"type":"text","text":{prompt:json}}]}`),
		Interrupt: []clispec.LiveMessage{{Method: "session/cancel", Params: `{"sessionId":{context:json}}`, Notice: true}},
		Asks: []clispec.AskRule{{
			Method: "session/request_permission", Tool: "toolCall.title", Input: "toolCall.rawInput",
			Options: "options", OptionID: "optionId", OptionKind: "kind",
			Allow: chosen, AllowKind: "allow[_-]once", Deny: chosen, DenyKind: "reject[_-](once|always)",
			Otherwise: `{"outcome":{"outcome":"cancelled"}}`,
		}},
		Events: append(more, acpEvents()...),
	}
	r.Turn[0].Ends = true
	return r
}

func acpEvents() []clispec.EventRule {
	update := func(kind string, more ...string) map[string]string {
		return pairs(append([]string{"method", "session/update", "params.update.sessionUpdate", kind}, more...)...)
	}
	end := func(reason string) map[string]string {
		return pairs("method", "session/prompt", "result.stopReason", reason)
	}
	usage := map[string]string{
		"input_tokens":      "result.usage.inputTokens ?? result._meta.quota.token_count.input_tokens",
		"output_tokens":     "result.usage.outputTokens ?? result._meta.quota.token_count.output_tokens",
		"cache_read_tokens": "result.usage.cachedReadTokens", "cache_write_tokens": "result.usage.cachedWriteTokens",
		"reasoning_tokens": "result.usage.thoughtTokens", "model": "result._meta.quota.model_usage.0.model",
	}
	return []clispec.EventRule{
		{Match: update("agent_message_chunk"), Kind: call.EventDelta, Set: pairs("text", "params.update.content.text")},
		{Match: update("agent_thought_chunk"), Kind: call.EventThinking, Set: pairs("text", "params.update.content.text")},
		{
			Match: update("tool_call"), Kind: call.EventToolUse,
			Set: pairs(
				"id", "params.update.toolCallId", "name", "params.update.title ?? params.update.kind",
				"input", "params.update.rawInput",
			),
		},
		{
			Match: update("tool_call_update", "params.update.status", "completed|failed"), Kind: call.EventToolResult,
			Set: pairs(
				"id", "params.update.toolCallId", "text", "params.update.content.0.content.text ?? params.update.rawOutput",
			),
		},
		{Match: end("end_turn"), Kind: call.EventResult, Terminal: true, Last: true, Set: usage},
		{
			Match: end("max_tokens|max_turn_requests"), Kind: call.EventResult, Terminal: true, Last: true,
			Set: with(usage, "failed", "=true", "partial", "=true", "message", "result.stopReason"),
		},
		{Match: end(".+"), Kind: call.EventError, Terminal: true, Last: true, Set: pairs("message", "result.stopReason")},
		// Some CLIs send the HTTP status as the code.
		{
			Match: pairs("method", "session/prompt", "error.code", `[45]\d\d`, "error.message", "(?s).+"), Kind: call.EventError,
			Terminal: true, Last: true, Set: pairs("message", "error.message", "status", "error.code"),
		},
		{
			Match: pairs("method", "session/prompt", "error.message", "(?s).+"), Kind: call.EventError, Terminal: true,
			Set: pairs("message", "error.data.details ?? error.data.message ?? error.message"),
		},
	}
}
