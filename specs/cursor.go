package specs

import "github.com/clichain/clichain"

// Cursor is Cursor's CLI agent. It is in no public registry: this spec follows
// its documentation and output captured by others, and has not been run.
func Cursor() clichain.CliSpec {
	return clichain.CliSpec{
		Name: "cursor-agent", Binary: "cursor-agent", AltBinaries: []string{"cursor-cli"},
		ProviderSlug: "cursor-cli", DefaultModel: "cursor-desktop",
		PromptStyle: clichain.DashP,

		// Reports about its stdin differ; the argument is the documented way.
		Transports: []clichain.Transport{clichain.TransportArgv},
		Outputs:    []clichain.OutputMode{clichain.OutputStream, clichain.OutputJSON, clichain.OutputText},
		LingerMS:   300, // it may never exit by itself

		Args: []clichain.ArgRow{
			{Args: []string{"-p"}},
			{Args: []string{"--output-format", "stream-json", "--stream-partial-output"}, When: output(clichain.OutputStream)},
			{Args: []string{"--output-format", "json"}, When: output(clichain.OutputJSON)},
			{Args: []string{"--output-format", "text"}, When: output(clichain.OutputText)},
			{Args: []string{"--trust", "--mode", "ask"}, When: access(clichain.AccessNone)},
			{Args: []string{"--trust", "--mode", "ask"}, When: unless("permission_mode", clichain.AccessRead)},
			{Args: []string{"--trust", "--mode={permission_mode}"}, When: setFor("permission_mode", clichain.AccessRead)},
			{Args: []string{"--trust", "--force"}, When: access(clichain.AccessFull)},
			{Args: []string{"--model", "{model}"}, When: set("model")},
			{Args: []string{"--resume", "{session}"}, When: set("session")},
			extra(),
			{Args: []string{"{prompt}"}, When: argv()},
		},
		PassEnv:   []string{"CURSOR_*"},
		DropEnv:   []string{"CURSOR_TRACE_ID"},
		NestedEnv: []string{"CURSOR_AGENT"},

		Models: clichain.ModelRules{Accept: []string{`^(auto|cheetah|composer.*|grok.*)$`, `^(gpt-|sonnet-|opus-|claude-|gemini-)`}},

		Login:    cursorLogin(),
		Sessions: clichain.SessionRules{ID: `[A-Za-z0-9_-]+`},

		Events: cursorEvents(),
		Lines: []clichain.LineRule{
			{Pattern: `(?i)usage limits? will reset when your monthly cycle ends on (?P<reset>[0-9/]+)`, Reason: clichain.ReasonUsageLimit},
			{Pattern: `(?i)workspace trust required|--trust`, Reason: clichain.ReasonUntrustedDir},
			{Pattern: `(?i)unknown option`, Reason: clichain.ReasonUnsupported, On: onStderr(), Hint: updateHint},
			{Pattern: `(?i)cannot use this model|available models:`, Reason: clichain.ReasonBadModel},
		},
		Hints: map[clichain.Reason]string{
			clichain.ReasonNotInstalled:    "install it as cursor.com/cli says",
			clichain.ReasonUnauthenticated: "run `cursor-agent login`, or set CURSOR_API_KEY",
			clichain.ReasonUntrustedDir:    "run `cursor-agent` there once and trust the folder",
		},
	}
}

func cursorEvents() []clichain.EventRule {
	text := map[string]string{"text": "@.text"}
	return []clichain.EventRule{
		{Match: match("type", "system", "subtype", "init"), Kind: clichain.EventSession,
			Set: map[string]string{"session": "session_id", "model": "model", "key_source": "apiKeySource"}},
		{Match: match("type", "user"), Kind: clichain.EventStatus, Set: map[string]string{"text": "=asked"}},
		{Match: match("type", "thinking", "subtype", "delta"), Kind: clichain.EventThinking, Set: map[string]string{"text": "text"}},
		// A delta has a time and no call id; the whole block has the call id,
		// and the final one neither.
		{Match: match("type", "assistant", "timestamp_ms", ".+", "model_call_id", "", "@.type", "text"), Each: "message.content", Kind: clichain.EventDelta, Set: text},
		{Match: match("type", "assistant", "model_call_id", ".+", "@.type", "text"), Each: "message.content", Kind: clichain.EventText, Set: text},
		{Match: match("type", "assistant", "timestamp_ms", "", "model_call_id", "", "@.type", "text"), Each: "message.content", Kind: clichain.EventText, Set: text},
		{Match: match("type", "tool_call", "subtype", "started"), Kind: clichain.EventToolUse,
			Set: map[string]string{"id": "call_id", "name": "tool_call|@keys|0", "input": "tool_call|@values|0.args"}},
		{Match: match("type", "tool_call", "subtype", "completed"), Kind: clichain.EventToolResult,
			Set: map[string]string{"id": "call_id", "text": "tool_call|@values|0.result"}},
		{Match: match("type", "result", "is_error", "true"), Kind: clichain.EventResult, Terminal: true, Last: true,
			Set: map[string]string{"failed": "=true", "session": "session_id", "message": "result ?? error"}},
		{Match: match("type", "result"), Kind: clichain.EventResult, Terminal: true, Set: map[string]string{
			"session": "session_id", "text": "result", "input_tokens": "usage.inputTokens", "output_tokens": "usage.outputTokens",
			"cache_read_tokens": "usage.cacheReadTokens", "cache_write_tokens": "usage.cacheWriteTokens",
		}},
	}
}
