package specs

import (
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Qwen is Qwen Code, a relative of the Gemini CLI for services with OpenAI's API. docs/examples/qwen-code.yaml is the
// same spec as a file.
func Qwen() clispec.Spec {
	return clispec.Spec{
		Name: "qwen", Binary: "qwen", Packages: []string{"@qwen-code/qwen-code"},
		ProviderSlug: "qwen-cli", DefaultModel: "qwen-default",
		Vendor: "alibaba", MCPClients: []string{"qwen-code-mcp-client*", "qwen-cli-mcp-client*"},
		SystemDefault: defaultSystem, CheckedWith: "0.24.4",
		// As an argument, the prompt could not begin with a dash.
		Transports: []clispec.Transport{clispec.TransportStdin},
		Outputs:    []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON, clispec.OutputText},
		// "/clear" and similar commands never reach the model. After a line break they do.
		Guards: []clispec.GuardRule{{Pattern: `^/`, Prefix: "\n"}},
		// Skills and the language for answers apply in every directory. In 0.15 the settings do, too.
		FolderFiles: []string{"./.qwen", "./.agents/skills"},
		Files:       qwenFiles(),
		Args:        qwenArgs(),
		// The CLI has a list of tools for --core-tools, and others beside it.
		ReadTools: qwenReadTools(), AgentTools: append(qwenReadTools(), "edit", "write_file"),
		Env:       qwenEnv(),
		PassEnv:   []string{"OPENAI_*", "QWEN_*", "DASHSCOPE_*", "BAILIAN_*", "MODELSCOPE_*"},
		PassEnvIf: qwenPass(),
		// The first three omit settings, including the login in them, or arguments. The last one prints each request
		// on stdout, among the events or the text.
		DropEnv: []string{
			"QWEN_CODE_SIMPLE", "QWEN_CODE_SAFE_MODE", "QWEN_CODE_NO_RELAUNCH", "QWEN_SYSTEM_MD", "QWEN_CODE_UNATTENDED_RETRY",
			"OPENAI_LOG",
		},
		NestedEnv: []string{
			"QWEN_CODE", "QWEN_CODE_SESSION_ID", "QWEN_CODE_PROJECT_DIR", "QWEN_CODE_PROMPT_ID", "QWEN_CODE_AGENT_ID",
		},
		Models: clispec.ModelRules{Accept: []string{`(?i)qwen[\w.:-]*`, `coder-model`}},
		Login:  qwenLogin(), Confine: qwenPaths(),
		Sessions: clispec.SessionRules{
			ID: uuid, DirBound: true, SameID: true,
			Cumulative: []string{"input_tokens", "output_tokens", "cache_read_tokens"},
		},
		Preflight: []clispec.PreflightRule{bypass("yolo")},
		Live:      qwenLive(),
		Events:    qwenEvents(), ToolEvents: clispec.ToolsAtStart,
		Lines:     qwenLines(),
		ExitCodes: map[int]call.Reason{53: call.ReasonBadOutput}, // turn limit
		Hints: map[call.Reason]string{
			call.ReasonNotInstalled: "npm install -g @qwen-code/qwen-code",
			call.ReasonUnauthenticated: "set OPENAI_API_KEY, OPENAI_BASE_URL and OPENAI_MODEL, " +
				"or run `qwen` and log in with /auth",
		},
	}
}

func qwenEnv() []clispec.EnvRow {
	return []clispec.EnvRow{
		// Otherwise the CLI trusts each directory: its .env, and settings that start programs and choose the server for
		// the key.
		{Name: "QWEN_CODE_SYSTEM_DEFAULTS_PATH", Value: "{defaults_file}", When: unset("trust_dir")},
		{
			Name: "QWEN_CODE_SYSTEM_DEFAULTS_PATH", Value: "{defaults_file}",
			When: setFor("trust_dir", call.AccessRead, call.AccessWrite),
		},
		{
			Name: "QWEN_CODE_TRUSTED_FOLDERS_PATH", Value: "{folders_file}",
			When: clispec.When{Set: []string{"dir"}, Unset: []string{"trust_dir"}},
		},
		// The CLI runs git status, which runs the filters in .git/config. git refuses this count.
		{Name: "GIT_CONFIG_COUNT", Value: "off", When: unset("trust_dir")},
		{Name: "QWEN_SYSTEM_MD", Value: "{system_file}", When: set("system_replace")},
	}
}

func qwenReadTools() []string {
	return []string{"read_file", "list_directory", "glob", "grep_search"}
}

const (
	// qwenUntrusted makes the list of trusted directories effective. It also removes one layer of retries. Each of the
	// remaining seven would be four, and after a service limit ten more would follow, a minute or more apart.
	qwenUntrusted = `{"security":{"folderTrust":{"enabled":true}},"model":{"generationConfig":{"maxRetries":0}},` +
		qwenShell + `}`
	// qwenTrusted is for directories that the caller trusts.
	qwenTrusted = `{` + qwenShell + `}`
	// qwenShell: in a confined process the shell cannot open a terminal.
	qwenShell = `"tools":{"shell":{"enableInteractiveShell":false}}`
	// qwenLean also leaves out the user's own context: hooks, QWEN.md, skills, and a second request that searches for
	// facts to remember.
	qwenLean = `{"security":{"folderTrust":{"enabled":true}},"model":{"generationConfig":{"maxRetries":0}},` +
		`"disableAllHooks":true,"context":{"fileName":["none"]},` +
		`"memory":{"enableManagedAutoMemory":false,"enableManagedAutoDream":false},` +
		`"skills":{"disabledLevels":["project","user","extension","bundled"]}}`
)

// qwenFiles: the defaults are in the place of a company's settings, below all other settings.
func qwenFiles() []clispec.FileRow {
	return []clispec.FileRow{
		{Field: "system", Name: "system.md", Content: "{system_replace}", When: set("system_replace")},
		{
			Field: "mcp", Name: "mcp.json", Content: "{mcp_config}",
			When: setFor("mcp_config", call.AccessWrite, call.AccessFull),
		},
		{Field: "defaults", Name: "defaults.json", Content: qwenLean, When: access(call.AccessNone)},
		{
			Field: "defaults", Name: "defaults.json", Content: qwenUntrusted,
			When: unless("trust_dir", call.AccessRead, call.AccessWrite),
		},
		{
			Field: "defaults", Name: "defaults.json", Content: qwenTrusted,
			When: setFor("trust_dir", call.AccessRead, call.AccessWrite),
		},
		// In 0.15 an unknown directory counts as trusted.
		{
			Field: "folders", Name: "folders.json", Content: `{{dir:json}:"DO_NOT_TRUST"}`,
			When: clispec.When{Set: []string{"dir"}, Unset: []string{"trust_dir"}},
		},
	}
}

// qwenBeside are the tools that --core-tools does not affect. Tools that only one of these would load are present
// without it.
const qwenBeside = "agent,list_agents,send_message,task_stop,skill,tool_search,tool_call,get_goal,update_goal," +
	"enter_worktree,exit_worktree,record_artifact,report_findings,ask_user_question,exit_plan_mode"

func qwenArgs() []clispec.ArgRow {
	return []clispec.ArgRow{
		{Args: []string{"--acp"}, When: output(clispec.OutputLive)},
		{Args: []string{"-o", "stream-json", "--include-partial-messages"}, When: output(clispec.OutputStream)},
		{Args: []string{"-o", "json"}, When: output(clispec.OutputJSON)},
		{Args: []string{"-o", "text"}, When: output(clispec.OutputText)},
		// Not --bare, which ignores the user's settings and a login in them.
		{Args: []string{"--core-tools=none"}, When: access(call.AccessNone)},
		{
			Args: []string{"--core-tools=" + strings.Join(qwenReadTools(), ",")}, When: unless("allowed_tools", call.AccessRead),
		},
		{Args: []string{"--core-tools={allowed_tools}"}, When: setFor("allowed_tools", call.AccessRead)},
		{
			Args: []string{"--exclude-tools=" + qwenBeside, "--allowed-mcp-server-names=none", "--extensions=none"},
			When: access(call.AccessNone, call.AccessRead),
		},
		// A mode that permits edits works only in trusted directories.
		{
			Args: []string{"--approval-mode=default"},
			When: unless("permission_mode", call.AccessNone, call.AccessRead, call.AccessWrite),
		},
		{Args: []string{"--allowed-tools=edit,write_file"}, When: unless("permission_mode", call.AccessWrite)},
		{Args: []string{"--approval-mode=yolo"}, When: unless("permission_mode", call.AccessFull)},
		{Args: []string{"--approval-mode={permission_mode}"}, When: setFor("permission_mode", agentAccess()...)},
		{Args: []string{"--model={model}"}, When: set("model")},
		{Args: []string{"--resume={session}"}, When: oneRun(set("session"))},
		{Args: []string{"--continue"}, When: oneRun(set("continue"))},
		{Args: []string{"--session-id={session_id}"}, When: oneRun(set("session_id"))},
		{Args: []string{"--max-session-turns={max_turns}"}, When: set("max_turns")},
		// The CLI splits each value at its commas.
		{Args: []string{"--allowed-tools={allowed_tools}"}, When: setFor("allowed_tools", call.AccessWrite, call.AccessFull)},
		{Args: []string{"--exclude-tools={disallowed_tools}"}, When: setFor("disallowed_tools", agentAccess()...)},
		{Args: []string{"--include-directories={add_dirs}"}, When: setFor("add_dirs", agentAccess()...)},
		{Args: []string{"--mcp-config={mcp_file}"}, When: setFor("mcp_config", call.AccessWrite, call.AccessFull)},
		{Args: []string{"--chat-recording=false"}, When: set("no_session_persistence")},
		extra(),
	}
}

// qwenError is the beginning of a service error that arrives as the model's answer.
const qwenError = `(?s)(\[API Error: |Qwen OAuth (quota|free tier)).*`

// qwenEvents reads stream-json, and the array of the same events of json. An error of the service arrives as an
// answer, in one piece, with a result "success".
func qwenEvents() []clispec.EventRule {
	return append([]clispec.EventRule{
		{
			Match: pairs("type", "system", "subtype", "init"), Kind: call.EventSession,
			Set: pairs("session", "session_id", "model", "model"),
		},
		{Match: pairs("type", "system", "subtype", "retry", "data.preserveText", "false"), Kind: call.EventReset},
		{
			Match: pairs("type", "system", "subtype", "retry"), Kind: call.EventRetry,
			Set: pairs("try", "data.attempt", "delay_ms", "data.delayMs"),
		},
		{
			Match: pairs("type", "stream_event", "event.delta.type", "text_delta", "event.delta.text", qwenError),
			Kind:  call.EventStatus, Last: true, Set: pairs("text", "=perhaps an error"),
		},
		{
			Match: pairs("type", "stream_event", "parent_tool_use_id", "", "event.delta.type", "text_delta"),
			Kind:  call.EventDelta, Set: pairs("text", "event.delta.text"),
		},
		{
			Match: pairs("type", "stream_event", "parent_tool_use_id", "", "event.delta.type", "thinking_delta"),
			Kind:  call.EventThinking, Set: pairs("text", "event.delta.thinking"),
		},
		// No model was paid for it.
		{
			Match: pairs(
				"type", "assistant", "message.usage.input_tokens", "0", "message.usage.output_tokens", "0", "@.text", qwenError,
			),
			Each: "message.content", Kind: call.EventError, Last: true, Set: pairs("message", "@.text"),
		},
		{
			Match: pairs("type", "assistant", "parent_tool_use_id", "", "@.type", "text"), Each: "message.content",
			Kind: call.EventText, Set: pairs("text", "@.text"),
		},
		{
			Match: pairs("type", "assistant", "parent_tool_use_id", "", "@.type", "thinking"), Each: "message.content",
			Kind: call.EventThinking, Set: pairs("text", "@.thinking", "whole", "=true"),
		},
		{
			Match: pairs("type", "assistant", "@.type", "tool_use"), Each: "message.content", Kind: call.EventToolUse,
			Set: pairs("id", "@.id", "name", "@.name", "input", "@.input"),
		},
		{
			Match: pairs("type", "user", "@.type", "tool_result"), Each: "message.content", Kind: call.EventToolResult,
			Set: pairs("id", "@.tool_use_id", "text", "@.content", "failed", "@.is_error"),
		},
	}, qwenResults()...)
}

func qwenResults() []clispec.EventRule {
	result := pairs("session", "session_id", "turns", "num_turns")
	usage := with(result, "input_tokens", "usage.input_tokens", "output_tokens", "usage.output_tokens")
	failed := func(fields map[string]string, message string) map[string]string {
		return with(fields, "failed", "=true", "message", message)
	}
	return []clispec.EventRule{
		{
			Match: pairs("type", "result", "is_error", "true"), Kind: call.EventResult, Terminal: true, Last: true,
			Set: failed(usage, "error.message ?? result ?? subtype"),
		},
		{
			Match: pairs("type", "result", "usage.output_tokens", "0", "result", qwenError), Kind: call.EventResult,
			Terminal: true, Last: true, Set: failed(result, "result"),
		},
		{
			Match: pairs("type", "result", "num_turns", "[2-9]|[1-9][0-9]+", "result", `(?s)\[API Error: .*`),
			Kind:  call.EventResult, Terminal: true, Last: true, Set: failed(usage, "result"),
		},
		{
			Match: pairs("type", "result", "result", `\[API Error: Model stream ended .*`), Kind: call.EventResult,
			Terminal: true, Last: true, Set: failed(usage, "result"),
		},
		{Match: pairs("type", "result", "num_turns", "0"), Kind: call.EventResult, Terminal: true, Last: true,
			Set: failed(pairs("session", "session_id"),
				"=the CLI interpreted the prompt as a command; the model was not asked")},
		{
			Match: pairs("type", "result"), Kind: call.EventResult, Terminal: true,
			Set: with(usage, "text", "result", "cache_read_tokens", "usage.cache_read_input_tokens"),
		},
	}
}

func qwenLines() []clispec.LineRule {
	return []clispec.LineRule{
		{
			Pattern: `No auth type is selected|Qwen OAuth free tier|Missing (?:API key|credentials) for|` +
				`_KEY environment variable not found`,
			Reason: call.ReasonUnauthenticated,
		},
		{Pattern: `Qwen OAuth quota`, Reason: call.ReasonUsageLimit},
		{Pattern: `Model stream ended with empty response`, Reason: call.ReasonEmpty},
		{Pattern: `API Error: terminated|\bUND_ERR_`, Reason: call.ReasonNetwork},
		{Pattern: `(?ms)^\[API Error: (?:(?P<status>\d{3}) )?(?P<message>.*?)\]`},
		// The same as an event, without the reason.
		{
			Pattern: `Retrying in (?P<delay>\d+s) \(attempt (?P<attempt>\d+)/\d+\)(?:: (?P<message>.+))?`, Kind: call.EventRetry,
			On: onStderr(),
		},
		{Pattern: `^Retrying provider attempt`, Kind: call.EventStatus, On: onStderr()},
		{Pattern: `No saved session found`, Reason: call.ReasonBadSession, On: onStderr(), Hint: goneHint},
		{Pattern: `Unknown arguments?:`, Reason: call.ReasonUnsupported, On: onStderr(), Hint: updateHint},
	}
}

// qwenLive: a prompt that begins with a slash is a command here too. The model does not see the character in front.
func qwenLive() clispec.LiveRules {
	const usage = "params.update._meta.usage."
	r := acpLive(clispec.EventRule{
		Match: pairs("method", "session/update", usage+"outputTokens", ".+"), Kind: call.EventUsage,
		Set: pairs(
			"input_tokens", usage+"inputTokens", "output_tokens", usage+"outputTokens",
			"cache_read_tokens", usage+"cachedReadTokens", "reasoning_tokens", usage+"thoughtTokens",
		),
	})
	r.When = access(call.AccessNone, call.AccessRead)
	r.Guards = []clispec.GuardRule{{Pattern: "^[\\s\ufeff]*/", Prefix: "\u200b"}}
	return r
}
