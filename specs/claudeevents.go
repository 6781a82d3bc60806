package specs

import (
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// claudeEvents reads stream-json, and the object, or the array of the same events, of json.
func claudeEvents() []clispec.EventRule {
	return slices.Concat(claudeNotices(), claudePieces(), claudeBlocks(), claudeResults())
}

// claudeNotices are events about the run: its session, its retries, the limits of the plan.
func claudeNotices() []clispec.EventRule {
	retry := pairs("try", "attempt", "delay_ms", "retry_delay_ms", "status", "error_status")
	limit := pairs(
		"code", "rate_limit_info.status", "message", "rate_limit_info.rateLimitType", "reset_at", "rate_limit_info.resetsAt",
		"window", "rate_limit_info.rateLimitType", "window_used", "rate_limit_info.utilization",
		"window_reset_s", "rate_limit_info.resetsAt",
	)
	return []clispec.EventRule{
		{
			Match: pairs("type", "system", "subtype", "init"), Kind: call.EventSession,
			Set: pairs("session", "session_id", "model", "model", "key_source", "apiKeySource"),
		},
		// From here on the --fallback-model answers.
		{
			Match: pairs("type", "system", "subtype", "model_fallback", "parent_tool_use_id", ""), Kind: call.EventSession,
			Set: pairs("model", "fallback_model"),
		},
		{Match: pairs("type", "system", "subtype", "status"), Kind: call.EventStatus, Set: pairs("text", "status")},
		{
			Match: pairs("type", "system", "subtype", "compact_boundary"), Kind: call.EventCompact,
			Set: pairs("trigger", "compact_metadata.trigger", "pre_tokens", "compact_metadata.pre_tokens"),
		},
		// Without a status the service did not answer the request.
		{
			Match: pairs("type", "system", "subtype", "api_retry", "error", "unknown", "error_status", ""),
			Kind:  call.EventRetry, Last: true, Set: with(retry, "message", "=most likely a connection error"),
		},
		{Match: pairs("type", "system", "subtype", "api_retry"), Kind: call.EventRetry, Set: with(retry, "code", "error")},
		{
			Match: pairs("type", "", "method", "get_usage", "@.value.utilization", ".+"),
			Each:  "result.rate_limits|@members", Kind: call.EventLimit, Set: pairs(
				"window", "@.key", "window_used_percent", "@.value.utilization", "window_reset", "@.value.resets_at",
			),
		},
		// Versions of half a year ago report only the window nearest to its limit, with the next rules.
		{
			Match: pairs("type", "rate_limit_event", "@.value.utilization", ".+"),
			Each:  "rate_limit_info.unifiedWindows|@members", Kind: call.EventLimit, Set: pairs(
				"window", "@.key", "window_used", "@.value.utilization", "window_reset_s", "@.value.resetsAt",
			),
		},
		// An exhausted plan is no limit if the user pays for overage.
		{
			Match: pairs("type", "rate_limit_event", "rate_limit_info.status", "rejected",
				"rate_limit_info.isUsingOverage", "(false)?", "rate_limit_info.overageStatus", "(rejected)?"),
			Kind: call.EventLimit, Last: true,
			Set: with(limit, "failed", "=true", "window_used", "rate_limit_info.utilization ?? =1"),
		},
		{
			Match: pairs("type", "rate_limit_event", "rate_limit_info.isUsingOverage", "true"), Kind: call.EventLimit,
			Last: true, Set: with(limit, "key_source", "=overage"),
		},
		{Match: pairs("type", "rate_limit_event"), Kind: call.EventLimit, Set: limit},
	}
}

// claudePieces are the events while the model writes.
func claudePieces() []clispec.EventRule {
	return []clispec.EventRule{
		// First and last, because nearly all lines are such deltas.
		{
			Match: pairs("type", "stream_event", "parent_tool_use_id", "", "event.delta.type", "text_delta"),
			Kind:  call.EventDelta, Last: true, Set: pairs("text", "event.delta.text"),
		},
		{
			Match: pairs("type", "stream_event", "parent_tool_use_id", "", "event.delta.type", "thinking_delta"),
			Kind:  call.EventThinking, Last: true, Set: pairs("text", "event.delta.thinking"),
		},
		// A block that was interrupted never arrives as a whole: the next message repeats it.
		{
			Match: pairs("type", "stream_event", "parent_tool_use_id", "", "event.type", "message_start"),
			Kind:  call.EventReset,
		},
		// The result has the sum. This rule serves a run that ends before its result.
		{
			Match: pairs("type", "stream_event", "event.type", "message_delta", "event.usage.output_tokens", ".+"),
			Kind:  call.EventUsage, Set: pairs(
				"input_tokens", "event.usage.input_tokens", "output_tokens", "event.usage.output_tokens",
				"cache_read_tokens", "event.usage.cache_read_input_tokens",
				"cache_write_tokens", "event.usage.cache_creation_input_tokens",
			),
		},
	}
}

// claudeBlocks are whole messages, of the model and of tools.
func claudeBlocks() []clispec.EventRule {
	return []clispec.EventRule{
		{
			Match: pairs("type", "error"), Kind: call.EventError, Last: true,
			Set: pairs("code", "error.type", "message", "error.message ?? message"),
		},
		{
			Match: pairs("type", "assistant", "error", ".+"), Kind: call.EventError, Last: true,
			Set: pairs("code", "error", "message", "message.content.0.text"),
		},
		{
			Match: pairs("type", "assistant", "parent_tool_use_id", "", "@.type", "text"), Each: "message.content",
			Kind: call.EventText, Set: pairs("text", "@.text"),
		},
		{
			Match: pairs("type", "assistant", "parent_tool_use_id", "", "@.type", "thinking"), Each: "message.content",
			Kind: call.EventThinking, Set: pairs("text", "@.thinking", "whole", "=true"),
		},
		// Structured output has the form of a tool call, but changes nothing.
		{
			Match: pairs("type", "assistant", "@.type", "tool_use", "@.name", "StructuredOutput"), Each: "message.content",
			Kind: call.EventStatus, Last: true, Set: pairs("text", "=answer"),
		},
		{
			Match: pairs("type", "assistant", "@.type", "(server_|mcp_)?tool_use"), Each: "message.content",
			Kind: call.EventToolUse, Set: pairs("id", "@.id", "name", "@.name", "input", "@.input"),
		},
		{
			Match: pairs("type", "user", "@.type", "tool_result"), Each: "message.content", Kind: call.EventToolResult,
			Set: pairs("id", "@.tool_use_id", "text", "@.content", "failed", "@.is_error"),
		},
	}
}

func claudeResults() []clispec.EventRule {
	usage := map[string]string{
		"session": "session_id", "cost_usd": "total_cost_usd ?? cost_usd", "turns": "num_turns",
		"input_tokens": "usage.input_tokens", "output_tokens": "usage.output_tokens",
		"cache_read_tokens": "usage.cache_read_input_tokens", "cache_write_tokens": "usage.cache_creation_input_tokens",
		// json mode reports the model nowhere else. A sub-agent or a side request may use another model.
		"model": "model ?? modelUsage|@most:outputTokens",
	}
	notAsked := with(
		usage, "failed", "=true", "message", "=the CLI interpreted the prompt as a command; the model was not asked",
	)
	return []clispec.EventRule{
		{
			Match: pairs("type", "result", "subtype", "error_max_turns"), Kind: call.EventResult, Terminal: true, Last: true,
			Set: with(usage, "failed", "=true", "partial", "=true", "text", "result",
				"message", "errors.0 ?? =the turn limit was reached"),
		},
		{
			Match: pairs("type", "(result)?", "is_error", "true"), Kind: call.EventResult, Terminal: true, Last: true,
			Set: with(usage, "failed", "=true", "message", "result ?? errors.0 ?? subtype",
				"status", "api_error_status", "code", "api_error_type"),
		},
		{
			Match: pairs("type", "result", "subtype", "error.*"), Kind: call.EventResult, Terminal: true, Last: true,
			Set: with(usage, "failed", "=true", "message", "errors.0 ?? result ?? subtype"),
		},
		// A command of the CLI itself answers without a turn of the model.
		{Match: pairs("type", "result", "num_turns", "0"), Kind: call.EventResult, Terminal: true, Last: true, Set: notAsked},
		{
			Match: pairs("type", "result", "local_command", ".+"), Kind: call.EventResult, Terminal: true, Last: true,
			Set: notAsked,
		},
		{
			Match: pairs("type", "result", "structured_output", "(?s).+"), Kind: call.EventResult, Terminal: true, Last: true,
			Set: with(usage, "text", "structured_output", "whole", "=true"),
		},
		// Only the last block.
		{Match: pairs("type", "result"), Kind: call.EventResult, Terminal: true, Set: with(usage, "text", "result")},
		{
			Match: pairs("type", "", "is_error", "false", "result", "(?s).+"), Kind: call.EventResult, Terminal: true,
			Set: with(usage, "text", "result"),
		},
	}
}
