package specs

import (
	"fmt"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// codexLive is the app-server: a thread for each context. It cannot ignore the user's rules, which exempt commands
// from the sandbox, so it is not used at access level read.
func codexLive() clispec.LiveRules {
	const input = `"threadId":{context:json},"input":[{"type":"text","text":{prompt:json}}]`
	message := func(method, params string, when clispec.When) clispec.LiveMessage {
		return clispec.LiveMessage{Method: method, Params: "{" + params + "}", When: when}
	}
	always := clispec.When{}
	approval := func(method string) clispec.AskRule {
		return clispec.AskRule{
			Method: method, Tool: "command", Allow: `{"decision":"accept"}`, Deny: `{"decision":"decline"}`,
		}
	}
	return clispec.LiveRules{
		Envelope: clispec.EnvelopeJSONRPC,
		When:     access(call.AccessNone, call.AccessWrite, call.AccessFull),
		Ready: []clispec.LiveMessage{
			message("initialize", `"clientInfo":{"name":"clichain","title":"clichain","version":"1"}`, always),
			{Method: "initialized", Notice: true},
		},
		Open:    codexOpen(),
		Resume:  codexResume(),
		Context: "thread.id", Of: "params.threadId", OfTurn: "params.turnId ?? params.turn.id",
		Turn: []clispec.LiveMessage{
			message("turn/start", input+`,"outputSchema":{schema}`, set("schema")), message("turn/start", input, always),
		},
		TurnID:    "turn.id",
		Interrupt: []clispec.LiveMessage{message("turn/interrupt", `"threadId":{context:json},"turnId":{turn:json}`, always)},
		Close:     []clispec.LiveMessage{message("thread/unsubscribe", `"threadId":{context:json}`, always)},
		Asks: []clispec.AskRule{
			approval("item/commandExecution/requestApproval"), approval("item/fileChange/requestApproval"),
		},
		Events: codexLiveEvents(),
	}
}

// codexThread returns the messages that begin a thread, by a method and its parameters. In this mode, text added to
// the instructions goes through standard input. A single run accepts it only as an argument, which other users can
// see, so there it is part of the prompt.
func codexThread(method, params string, when clispec.When) []clispec.LiveMessage {
	const model, added = `,"model":{model:json}`, `,"developerInstructions":{system_append:json}`
	begin := func(more string, fields ...string) clispec.LiveMessage {
		w := when
		w.Set = slices.Concat(when.Set, fields)
		return clispec.LiveMessage{Method: method, Params: `{"cwd":{dir:json},` + params + more + `}`, When: w}
	}
	return []clispec.LiveMessage{
		begin(model+added, "model", "system_append"), begin(added, "system_append"), begin(model, "model"), begin(""),
	}
}

// codexOpen stores a thread if the process has one conversation, unless the caller wants no stored session.
func codexOpen() []clispec.LiveMessage {
	return slices.Concat(
		codexThread("thread/start", `"ephemeral":true`, set("no_session_persistence")),
		codexThread("thread/start", `"ephemeral":false`, set("conversation")),
		codexThread("thread/start", `"ephemeral":true`, clispec.When{}),
	)
}

// codexResume repeats the permissions of the tools, because a thread keeps those of the process that made it,
// whatever the arguments are. For this reason there is no row for a permission mode. The response leaves out the
// earlier turns, which would make it long.
func codexResume() (list []clispec.LiveMessage) {
	for _, row := range []struct {
		sandbox, approval string
		when              clispec.When
	}{
		{"read-only", "never", access(call.AccessNone)},
		{"workspace-write", "on-request", clispec.When{
			Access: []call.Access{call.AccessWrite}, Set: []string{"ask"}, Unset: []string{"permission_mode"},
		}},
		{"workspace-write", "never", unless("permission_mode", call.AccessWrite)},
		{"danger-full-access", "never", unless("permission_mode", call.AccessFull)},
	} {
		const params = `"threadId":{session:json},"excludeTurns":true,"sandbox":"%s","approvalPolicy":"%s"`
		list = append(list, codexThread("thread/resume", fmt.Sprintf(params, row.sandbox, row.approval), row.when)...)
	}
	return list
}

func codexLiveEvents() []clispec.EventRule {
	const tools = "commandExecution|fileChange|mcpToolCall|dynamicToolCall|webSearch|collabAgentToolCall|imageGeneration"
	failed := pairs("message", "params.error.message", "status", "params.error.codexErrorInfo|@values|0.httpStatusCode")
	retried := pairs(
		"message", "params.error.additionalDetails ?? params.error.message",
		"status", "params.error.codexErrorInfo|@values|0.httpStatusCode",
	)
	return []clispec.EventRule{
		{Match: pairs("method", "turn/started"), Kind: call.EventStatus, Set: pairs("text", "=turn")},
		{Match: pairs("method", "item/agentMessage/delta"), Kind: call.EventDelta, Set: pairs("text", "params.delta")},
		{
			Match: pairs("method", "item/completed", "params.item.type", "agentMessage"), Kind: call.EventText,
			Set: pairs("text", "params.item.text"),
		},
		{
			Match: pairs("method", "item/reasoning/summaryTextDelta"), Kind: call.EventThinking,
			Set: pairs("text", "params.delta"),
		},
		{
			Match: pairs("method", "item/completed", "params.item.type", "reasoning"), Each: "params.item.summary",
			Kind: call.EventThinking, Set: pairs("text", "@.@this", "whole", "=true"),
		},
		{
			Match: pairs("method", "item/started", "params.item.type", tools), Kind: call.EventToolUse,
			Set: pairs("id", "params.item.id", "name", "params.item.type", "input", "params.item"),
		},
		{
			Match: pairs("method", "item/completed", "params.item.type", tools), Kind: call.EventToolResult,
			Set: pairs("id", "params.item.id", "text", "params.item.aggregatedOutput ?? params.item.result"),
		},
		{Match: pairs("method", "thread/tokenUsage/updated"), Kind: call.EventUsage, Set: map[string]string{
			"input_tokens": "params.tokenUsage.last.inputTokens", "output_tokens": "params.tokenUsage.last.outputTokens",
			"reasoning_tokens":   "params.tokenUsage.last.reasoningOutputTokens",
			"cache_read_tokens":  "params.tokenUsage.last.cachedInputTokens",
			"cache_write_tokens": "params.tokenUsage.last.cacheWriteInputTokens",
		}},
		codexWindows("account/rateLimits/updated", "params.rateLimits"),
		codexWindows("account/rateLimits/read", "result.rateLimits"),
		{Match: pairs("method", "error", "params.willRetry", "true"), Kind: call.EventRetry, Last: true, Set: retried},
		{Match: pairs("method", "error"), Kind: call.EventError, Set: failed},
		{
			Match: pairs("method", "turn/completed", "params.turn.status", "completed"), Kind: call.EventResult, Terminal: true,
			Last: true,
		},
		{
			Match: pairs("method", "turn/completed"), Kind: call.EventError, Terminal: true,
			Set: pairs(
				"message", "params.turn.error.message ?? params.turn.status",
				"status", "params.turn.error.codexErrorInfo|@values|0.httpStatusCode",
			),
		},
		{
			Match: pairs("method", "turn/start", "error.message", "(?s).+"), Kind: call.EventError, Terminal: true,
			Set: pairs("message", "error.message"),
		},
	}
}

// codexWindows reads the usage windows of the plan at a path. The app-server reports them in each turn, and if asked.
// A report with another id is about a separate limit, such as that of one model, with windows of the same names.
func codexWindows(method, path string) clispec.EventRule {
	return clispec.EventRule{
		Match: pairs("method", method, path+".limitId", "(codex)?", "@.value.usedPercent", ".+"),
		Each:  path + "|@members",
		Kind:  call.EventLimit, Set: pairs(
			"window", "@.key", "window_used_percent", "@.value.usedPercent",
			"window_minutes", "@.value.windowDurationMins", "window_reset_s", "@.value.resetsAt",
		),
	}
}

// codexModels are the models that the CLI offers, and from another source the size of their contexts.
func codexModels() []clispec.ListRule {
	return []clispec.ListRule{
		{Live: clispec.LiveMessage{Method: "model/list", Params: "{}"}, Path: "data.#(hidden==false)#",
			Set: map[string]string{
				"name": "model", "title": "displayName", "default": "isDefault", "default_effort": "defaultReasoningEffort",
				"efforts": "supportedReasoningEfforts.#.reasoningEffort", "inputs": "inputModalities",
			}},
		{Args: []string{"debug", "models"}, Path: "models", Set: pairs("name", "slug", "context", "context_window")},
	}
}
