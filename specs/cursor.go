package specs

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Cursor is Cursor's CLI agent. No public registry has it. This spec follows its documentation and recordings by
// others. It has not been run.
func Cursor() clispec.Spec {
	return clispec.Spec{
		Name: "cursor-agent", Binary: "cursor-agent", AltBinaries: []string{"cursor-cli"},
		// The name in the documentation since 2026. Other CLIs install a program of this name, too.
		LinkNames:    []string{"agent"},
		ProviderSlug: "cursor-cli", DefaultModel: "cursor-desktop",
		PromptStyle: clispec.DashP,
		// The argument is the documented way. Reports about stdin differ: some versions read no prompt from it.
		Transports: []clispec.Transport{clispec.TransportArgv},
		// A prompt that begins with a dash would be an option.
		Guards:      []clispec.GuardRule{{Pattern: `^-`, Prefix: "\n"}},
		Outputs:     []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON, clispec.OutputText},
		LingerMS:    300, // it may not exit by itself
		FolderFiles: []string{"./.cursor", "./.cursorrules", "./AGENTS.md", "./CLAUDE.md"},
		Args: []clispec.ArgRow{
			{Args: []string{"-p"}},
			{Args: []string{"--output-format", "stream-json", "--stream-partial-output"}, When: output(clispec.OutputStream)},
			{Args: []string{"--output-format", "json"}, When: output(clispec.OutputJSON)},
			{Args: []string{"--output-format", "text"}, When: output(clispec.OutputText)},
			{Args: []string{"--trust"}, When: access(call.AccessNone)}, // a directory of clichain
			{Args: []string{"--trust"}, When: set("trust_dir")},
			{Args: []string{"--mode", "ask"}, When: access(call.AccessNone)},
			{Args: []string{"--mode", "ask"}, When: unless("permission_mode", call.AccessRead)},
			{Args: []string{"--mode={permission_mode}"}, When: setFor("permission_mode", call.AccessRead)},
			{Args: []string{"--force"}, When: access(call.AccessFull)},
			{Args: []string{"--model", "{model}"}, When: set("model")},
			{Args: []string{"--resume", "{session}"}, When: set("session")},
			extra(),
			{Args: []string{"{prompt}"}, When: argv()},
		},
		PassEnv:   []string{"CURSOR_*"},
		DropEnv:   []string{"CURSOR_TRACE_ID"},
		NestedEnv: []string{"CURSOR_AGENT"},
		Models: clispec.ModelRules{
			Accept: []string{`auto|cheetah|(composer|grok)[\w.:-]*`, `(gpt|sonnet|opus|claude|gemini)-[\w.:-]+`},
		},
		Login: cursorLogin(), Confine: cursorPaths(),
		Sessions: clispec.SessionRules{ID: `[A-Za-z0-9_-]+`},
		Events:   cursorEvents(), ToolEvents: clispec.ToolsAtStart,
		Text: clispec.TextRule{AnswerOnly: true},
		Lines: []clispec.LineRule{
			{
				Pattern: `(?i)usage limits? will reset when your monthly cycle ends on (?P<reset>[0-9/]+)`,
				Reason:  call.ReasonUsageLimit,
			},
			// In text mode the CLI prints a failure in place of the answer.
			{
				Pattern: `\A\s*(?:\x1b\[[\d;]*m)*\w*Error: (?P<message>(?s:.+))`, On: []clispec.Evidence{clispec.OnStdout},
			},
			{Pattern: `(?i)workspace trust required|--trust`, Reason: call.ReasonUntrustedDir},
			{Pattern: `(?i)unknown option`, Reason: call.ReasonUnsupported, On: onStderr(), Hint: updateHint},
			{Pattern: `(?i)cannot use this model|available models:`, Reason: call.ReasonBadModel},
		},
		Hints: map[call.Reason]string{
			call.ReasonNotInstalled:    "install it as cursor.com/cli says",
			call.ReasonUnauthenticated: "run `cursor-agent login`, or set CURSOR_API_KEY",
			call.ReasonUntrustedDir:    "run `cursor-agent` there once and trust the directory",
		},
	}
}

func cursorEvents() []clispec.EventRule {
	text := pairs("text", "@.text")
	return []clispec.EventRule{
		{
			Match: pairs("type", "system", "subtype", "init"), Kind: call.EventSession,
			Set: pairs("session", "session_id", "model", "model", "key_source", "apiKeySource"),
		},
		{Match: pairs("type", "user"), Kind: call.EventStatus, Set: pairs("text", "=asked")},
		{Match: pairs("type", "thinking", "subtype", "delta"), Kind: call.EventThinking, Set: pairs("text", "text")},
		// A delta has a time and no call ID. The whole block has the call ID, and the final block has neither.
		{
			Match: pairs("type", "assistant", "timestamp_ms", ".+", "model_call_id", "", "@.type", "text"),
			Each:  "message.content", Kind: call.EventDelta, Set: text,
		},
		{
			Match: pairs("type", "assistant", "model_call_id", ".+", "@.type", "text"), Each: "message.content",
			Kind: call.EventText, Set: text,
		},
		{
			Match: pairs("type", "assistant", "timestamp_ms", "", "model_call_id", "", "@.type", "text"),
			Each:  "message.content", Kind: call.EventText, Set: text,
		},
		{
			Match: pairs("type", "tool_call", "subtype", "started"), Kind: call.EventToolUse,
			Set: pairs("id", "call_id", "name", "tool_call|@keys|0", "input", "tool_call|@values|0.args"),
		},
		{
			Match: pairs("type", "tool_call", "subtype", "completed"), Kind: call.EventToolResult,
			Set: pairs("id", "call_id", "text", "tool_call|@values|0.result"),
		},
		{
			Match: pairs("type", "result", "is_error", "true"), Kind: call.EventResult, Terminal: true, Last: true,
			Set: pairs("failed", "=true", "session", "session_id", "message", "result ?? error"),
		},
		{Match: pairs("type", "result"), Kind: call.EventResult, Terminal: true, Set: map[string]string{
			"session": "session_id", "text": "result", "input_tokens": "usage.inputTokens",
			"output_tokens":     "usage.outputTokens",
			"cache_read_tokens": "usage.cacheReadTokens", "cache_write_tokens": "usage.cacheWriteTokens",
		}},
	}
}
