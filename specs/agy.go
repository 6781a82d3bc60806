package specs

import (
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Agy is Google's Antigravity CLI, the successor of the Gemini CLI for individual accounts. No public registry has
// it. This spec follows its documentation and recordings of 1.2.17 by others. It has not been run.
func Agy() clispec.Spec {
	return clispec.Spec{
		Name: "agy", Binary: "agy",
		ProviderSlug: "antigravity-cli", DefaultModel: "agy-default",
		Vendor:      "google",
		PromptStyle: clispec.DashP,
		Transports:  []clispec.Transport{clispec.TransportArgv},
		Outputs:     []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON, clispec.OutputText},
		LingerMS:    1000,
		// The CLI handles "/usage" and similar commands itself, without the model. A prompt that begins with a dash
		// would be a flag.
		Guards:      []clispec.GuardRule{{Pattern: `^[/-]`, Prefix: "\n"}},
		FolderFiles: []string{"./.agents", "./.agent", "./.gemini", "./AGENTS.md", "./GEMINI.md"},
		Args: []clispec.ArgRow{
			{Args: []string{"--output-format", "stream-json"}, When: output(clispec.OutputStream)},
			{Args: []string{"--output-format", "json"}, When: output(clispec.OutputJSON)},
			{Args: []string{"--output-format", "text"}, When: output(clispec.OutputText)},
			// At this limit, by default five minutes, the CLI returns a partial answer as the answer. clichain has
			// its own limit.
			{Args: []string{"--print-timeout", "24h"}},
			// In this mode the CLI plans and changes nothing. No flag removes its tools.
			{Args: []string{"--mode", "plan"}, When: access(call.AccessNone, call.AccessRead)},
			{Args: []string{"--mode", "accept-edits"}, When: access(call.AccessWrite)},
			{Args: []string{"--dangerously-skip-permissions"}, When: access(call.AccessFull)},
			{Args: []string{"--model", "{model}"}, When: set("model")},
			{Args: []string{"--effort", "{effort}"}, When: set("effort")},
			{Args: []string{"--conversation", "{session}"}, When: set("session")},
			{Args: []string{"--add-dir", "{add_dirs}"}, Each: "add_dirs", When: setFor("add_dirs", agentAccess()...)},
			extra(),
			// The flag takes the next argument, whatever it is, so it is the last one.
			{Args: []string{"-p", "{prompt}"}, When: argv()},
		},
		Env:     []clispec.EnvRow{{Name: "AGY_CLI_DISABLE_AUTO_UPDATE", Value: "true"}},
		PassEnv: []string{"AGY_*", "ANTIGRAVITY_*", "GEMINI_API_KEY"},
		Models:  clispec.ModelRules{Accept: []string{`(?i)(gemini|gemma|claude|gpt)-[\w.:@-]+`}},
		Login:   agyLogin(), Confine: agyPaths(),
		// For an unknown conversation the CLI begins another one, with a warning.
		Sessions: clispec.SessionRules{ID: uuid, SameID: true, Cumulative: []string{"turns"}},
		// It is not known whether each tool is reported before it acts.
		Events: agyEvents(), ToolEvents: clispec.ToolsNever,
		Text:  clispec.TextRule{AnswerOnly: true},
		Lines: agyLines(),
		ExitCodes: map[int]call.Reason{
			2: call.ReasonUnsupported, // invalid arguments
		},
		Hints: map[call.Reason]string{
			call.ReasonNotInstalled:      "install it as antigravity.google/docs/cli says",
			call.ReasonUnauthenticated:   "run `agy` in a terminal once and sign in",
			call.ReasonUntrustedDir:      "run `agy` there once and trust the directory",
			call.ReasonPermissionRefused: "ask with access full, or allow the tool in the settings of agy",
			call.ReasonUnsupported:       updateHint,
		},
	}
}

// agyLogin has not been tested. The CLI can log in with a Google account, in a terminal, and stores that login outside
// of files.
func agyLogin() clispec.LoginRules {
	return clispec.LoginRules{Ways: []clispec.LoginWay{
		{Env: []string{"GEMINI_API_KEY"}, Unsure: true, Billing: call.BillingAPIKey},
		{Unsure: true},
	}}
}

// agyEvents reads stream-json, whose events have their fields in an object with their name, and the document of json,
// which has the fields of a result and no event.
func agyEvents() []clispec.EventRule {
	step := func(match ...string) map[string]string {
		m := pairs("event", "step_update")
		for field, pattern := range pairs(match...) {
			m["step_update."+field] = pattern
		}
		return m
	}
	const id, tool = "step_update.step_index", "step_update.tool_name"
	const said = "step_update.tool_info.error ?? step_update.tool_info.output"
	rules := []clispec.EventRule{
		{
			Match: pairs("event", "init"), Kind: call.EventSession,
			Set: pairs("session", "conversation_id ?? init.conversation_id", "model", "init.model"),
		},
		{
			Match: step("step_type", "agent_response", "state", "ERROR"), Kind: call.EventError, Last: true,
			Set: pairs("message", "step_update.error.message ?? step_update.error"),
		},
		{
			Match: step("step_type", "agent_response", "text_delta", "(?s).+"), Kind: call.EventDelta, Last: true,
			Set: pairs("text", "step_update.text_delta"),
		},
		{
			Match: step("step_type", "tool", "state", "ACTIVE"), Kind: call.EventToolUse, Last: true,
			Set: pairs("id", id, "name", tool, "input", "step_update.tool_info.parameters"),
		},
		{
			Match: step("step_type", "tool", "state", "ERROR"), Kind: call.EventToolResult, Last: true,
			Set: pairs("id", id, "text", said, "failed", "=true"),
		},
		{Match: step("step_type", "tool"), Kind: call.EventToolResult, Last: true, Set: pairs("id", id, "text", said)},
		{Match: step(), Kind: call.EventStatus, Set: pairs("text", "step_update.step_type")},
	}
	return slices.Concat(rules, agyResults("result.", "event", "result"), agyResults("", "event", ""))
}

// agyResults are the outcomes that an object with this prefix can report. Several failures report success.
func agyResults(prefix string, match ...string) []clispec.EventRule {
	at := func(path string) string { return prefix + path }
	usage := pairs("session", at("conversation_id"), "turns", at("num_turns"), "input_tokens", at("usage.input_tokens"),
		"output_tokens", at("usage.output_tokens"),
		"cache_read_tokens", at("usage.cache_read_tokens"), "reasoning_tokens", at("usage.thinking_tokens"))
	failed := func(set ...string) map[string]string { return with(with(usage, "failed", "=true"), set...) }
	result := func(status string, set map[string]string, more ...string) clispec.EventRule {
		return clispec.EventRule{
			Match: with(pairs(match...), append(more, at("status"), status)...), Kind: call.EventResult, Terminal: true,
			Last: true, Set: set,
		}
	}
	const some, one = "(?s).+", `[1-9]\d*`
	denied := at("denied_actions.0.display_name") + " ?? " + at("denied_actions.0.action")
	return []clispec.EventRule{
		result(
			"SUCCESS", failed("message", "=the CLI interpreted the prompt as a command; the model was not asked"),
			at("command.name"), some,
		),
		result(
			"SUCCESS", failed("code", "="+agyDenied, "message", denied), at("response"), `\s*`, at("denied_actions.#"), one,
		),
		// Every turn that ends has token counts.
		result(
			"SUCCESS", failed("message", "="+agyUnfinished), at("response"), some, at("usage.input_tokens"), "0",
			at("usage.output_tokens"), "0",
		),
		{
			Match: with(pairs(match...), at("status"), "SUCCESS", at("denied_actions.#"), one), Kind: call.EventWarning,
			Set: pairs("message", "="+agyDenied),
		},
		result("SUCCESS", with(usage, "text", at("response"))),
		result("[A-Z_]+", failed("message", at("error.message")+" ?? "+at("error")+" ?? "+at("status"))),
	}
}

// Texts by which agyLines recognizes two of the outcomes.
const (
	agyDenied     = "a tool was denied"
	agyUnfinished = "the turn was not finished: it counts no tokens"
)

func agyLines() []clispec.LineRule {
	onEvent := func(pattern string, reason call.Reason) clispec.LineRule {
		return clispec.LineRule{Pattern: pattern, Reason: reason, On: []clispec.Evidence{clispec.OnEvent}}
	}
	return []clispec.LineRule{
		{
			Pattern: `^\[agy\] (?P<message>print timeout after [^\n]*)`, Reason: call.ReasonTimeout, On: onStderr(), Fatal: true,
		},
		onEvent("^"+agyUnfinished, call.ReasonTimeout),
		onEvent("^"+agyDenied, call.ReasonPermissionRefused),
		{Pattern: `(?i)timeout waiting for response|timed out waiting for response`, Reason: call.ReasonTimeout},
		{
			Pattern: `(?i)(?P<message>(?:individual |team )?quota reached[^\n"]*?Resets in (?P<delay>[\dhms]+)[^\n"]*)`,
			Reason:  call.ReasonUsageLimit,
		},
		{Pattern: `(?i)quota reached|exhausted your quota`, Reason: call.ReasonUsageLimit},
		{Pattern: `(?i)AI credits balance is too low`, Reason: call.ReasonBilling},
		{Pattern: `(?i)invalid model selection`, Reason: call.ReasonBadModel},
		{Pattern: `(?i)^error: authentication (?:required|failed)`, Reason: call.ReasonUnauthenticated},
		// The CLI also prints this while it logs in by itself.
		{Pattern: `You are not logged into Antigravity`, Kind: call.EventStatus, On: onStderr()},
		{
			Pattern: `(?i)flag provided but not defined|unknown flag`, Reason: call.ReasonUnsupported, On: onStderr(),
			Hint: updateHint,
		},
		{Pattern: `AGY_ERROR: \{[^\n]*"short_error":\s*"(?P<message>(?:[^"\\\n]|\\.)*)"`, On: onStderr()},
		{Pattern: `AGY_ERROR: \{[^\n]*"error_code":\s*"?(?P<status>[45]\d\d)`, On: onStderr()},
	}
}
