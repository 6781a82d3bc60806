package specs

import (
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Claude is Anthropic's Claude Code.
func Claude() clispec.Spec {
	return clispec.Spec{
		Name: "claude", Binary: "claude", Packages: []string{"@anthropic-ai/claude-code"},
		ProviderSlug: "anthropic-cli", DefaultModel: "claude-desktop",
		Vendor: "anthropic", MCPClients: []string{"claude-code"},
		PromptStyle: clispec.DashP, SystemFlag: "--append-system-prompt",
		SystemDefault: defaultSystem, CheckedWith: "2.1.329",
		Transports: []clispec.Transport{clispec.TransportStdin, clispec.TransportArgv},
		Outputs:    []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON, clispec.OutputText},
		// Even in print mode, commands such as "/clear" never reach the model. With a line break in front they do.
		Guards: []clispec.GuardRule{{Pattern: `^/`, Prefix: "\n"}},
		Files: []clispec.FileRow{
			{Field: "system", Name: "system.md", Content: "{system_replace}", When: set("system_replace")},
			{Field: "append", Name: "append.md", Content: "{system_append}", When: set("system_append")},
			// It may hold secrets.
			{
				Field: "mcp", Name: "mcp.json", Content: "{mcp_config}",
				When: setFor("mcp_config", call.AccessWrite, call.AccessFull),
			},
			{Field: "tools", Name: "tools.json", Content: hostServer("type", "http", "url"), When: hostTools()},
		},
		Args:      claudeArgs(),
		ReadTools: claudeReadTools(), AgentTools: append(claudeReadTools(), "Edit", "Write", "NotebookEdit"),
		Env: claudeEnv(),
		PassEnv: []string{
			"ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_*", "CLAUDE_CODE_SKIP_*",
			"CLAUDE_CODE_DISABLE_*", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
			"CLAUDE_CODE_SUBAGENT_MODEL", "CLAUDE_CODE_EFFORT_LEVEL", "CLAUDE_CODE_GIT_BASH_PATH", "CLAUDE_CODE_TMPDIR",
			"DISABLE_*", "MAX_THINKING_TOKENS", "MAX_MCP_OUTPUT_TOKENS", "MCP_*", "IS_SANDBOX",
			"BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS", "BASH_MAX_OUTPUT_LENGTH",
		},
		PassEnvIf: claudePass(),
		DropEnv:   []string{"CLAUDE_CODE_SIMPLE"},
		NestedEnv: []string{
			"CLAUDECODE*", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_MESSAGING_SOCKET",
			"CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_EXECPATH",
		},
		Models: claudeModels(),
		Login:  claudeLogin(), Confine: claudePaths(),
		Sessions: clispec.SessionRules{ID: uuid, Cumulative: []string{"cost_usd"}},
		Preflight: []clispec.PreflightRule{bypass("bypassPermissions"), {
			When: access(call.AccessFull), Root: true, UnlessEnv: []string{"IS_SANDBOX"},
			Reason:  call.ReasonPermissionRefused,
			Message: "--dangerously-skip-permissions is refused for root",
			Hint:    "run as another user, or set IS_SANDBOX=1 if this machine is a sandbox",
		}},
		Events: claudeEvents(), ToolEvents: clispec.ToolsAtStart,
		Lines: claudeLines(), Live: claudeLive(),
		Quota: clispec.QuotaRules{Windows: claudeWindows()},
		Hints: map[call.Reason]string{
			call.ReasonNotInstalled:    "npm install -g @anthropic-ai/claude-code",
			call.ReasonUnauthenticated: "run `claude` and log in with /login, or set ANTHROPIC_API_KEY",
			call.ReasonBilling:         "add credit, or log in with a subscription",
		},
	}
}

// claudeWindows are the usage windows of the plan. "best" and "opusplan" select one of two models.
func claudeWindows() []clispec.WindowRow {
	const week = 7 * 24 * 60
	return []clispec.WindowRow{
		{Name: "five_hour", Minutes: 5 * 60},
		{Name: "seven_day_opus", Minutes: week, Models: `(?i).*opus.*|best`},
		{Name: "seven_day_sonnet", Minutes: week, Models: `(?i).*sonnet.*|opusplan`},
		// The CLI shows it as the limit of Fable.
		{Name: "seven_day_overage_included", Minutes: week, Models: `(?i).*fable.*|best`},
		{Name: `seven_day\w*`, Minutes: week},
		{Name: `\w+_(hour|day|week|month)\w*`},
	}
}

func claudeModels() clispec.ModelRules {
	return clispec.ModelRules{
		Accept: []string{
			`(?i)([a-z-]+\.|anthropic/)?(anthropic\.)?claude-[\w.:@-]+(\[1m\])?`,
			`(opus|sonnet|haiku|fable|opusplan|best)(\[1m\])?`, `arn:aws\S+`,
		},
		List: []clispec.ListRule{{
			Live: clispec.LiveMessage{Method: "initialize"}, Path: "models",
			Set: pairs("name", "value", "title", "displayName", "efforts", "supportedEffortLevels"),
		}},
	}
}

// claudeEnv keeps the files of the project and the user out of a plain completion: hooks, plugins, skills, CLAUDE.md,
// and files named with "@" in the prompt. It uses environment variables instead of flags, because versions that do
// not know a variable ignore it, and because logins keep working.
func claudeEnv() []clispec.EnvRow {
	rows := []clispec.EnvRow{
		// It would also turn off the functions of the caller.
		{Name: "CLAUDE_CODE_SAFE_MODE", Value: "1", When: unless("host_url", call.AccessNone)},
		// This halves the request, but a login with a subscription would fail.
		{
			Name: "CLAUDE_CODE_SIMPLE", Value: "1",
			When: clispec.When{
				Access: []call.Access{call.AccessNone}, Env: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"},
			},
		},
		{Name: "CLAUDE_CODE_DISABLE_CLAUDE_MDS", Value: "1", When: access(call.AccessNone)},
		{Name: "CLAUDE_CODE_DISABLE_AUTO_MEMORY", Value: "1", When: access(call.AccessNone)},
		{Name: "CLAUDE_CODE_DISABLE_ATTACHMENTS", Value: "1", When: access(call.AccessNone)},
		// They would be names of files and branches, and commit messages. Versions of half a year ago run git for
		// them even without access, and git runs filters.
		{Name: "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS", Value: "1", When: access(call.AccessNone)},
		{
			Name: "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS", Value: "1",
			When: unless("trust_dir", call.AccessRead, call.AccessWrite),
		},
	}
	// Otherwise the model would have to search for the functions of the caller.
	rows = append(rows, clispec.EnvRow{Name: "ENABLE_TOOL_SEARCH", Value: "false", When: hostTools()})
	for _, row := range quietGit() { // in the shell tool: the CLI's own git calls are safe
		row.When = unless("trust_dir", call.AccessWrite)
		rows = append(rows, row)
	}
	return append(rows, traceEnv()...)
}

func claudeReadTools() []string { return []string{"Read", "Grep", "Glob"} }

func claudeArgs() []clispec.ArgRow {
	readTools := strings.Join(claudeReadTools(), ",")
	return []clispec.ArgRow{
		{Args: []string{"-p"}},
		{
			Args: []string{"--output-format", "stream-json", "--verbose", "--include-partial-messages"},
			When: output(clispec.OutputStream, clispec.OutputLive),
		},
		{Args: []string{"--input-format", "stream-json"}, When: output(clispec.OutputLive)},
		{
			Args: []string{"--permission-prompt-tool", "stdio"},
			When: clispec.When{
				Output: []clispec.OutputMode{clispec.OutputLive}, Set: []string{"ask"}, Access: []call.Access{call.AccessWrite},
			},
		},
		{Args: []string{"--output-format", "json"}, When: output(clispec.OutputJSON)},
		{Args: []string{"--tools", ""}, When: access(call.AccessNone)},
		// A settings file in the directory could name another server for the key, a library to load, or a program
		// that makes keys.
		{Args: []string{"--setting-sources", "user"}, When: unset("trust_dir")},
		{Args: []string{"--tools", readTools, "--allowedTools", readTools}, When: unless("allowed_tools", call.AccessRead)},
		{Args: []string{"--tools={allowed_tools}"}, When: setFor("allowed_tools", call.AccessRead)},
		{Args: []string{"--strict-mcp-config"}, When: unless("strict_mcp", call.AccessNone, call.AccessRead)},
		{Args: []string{"--strict-mcp-config"}, When: set("strict_mcp")},
		{Args: []string{"--strict-mcp-config"}, When: hostTools(call.AccessWrite, call.AccessFull)},
		{Args: []string{"--settings", `{"disableAllHooks":true}`}, When: hostTools(call.AccessNone)},
		{Args: []string{"--mcp-config={tools_file}", "--allowedTools=mcp__" + hostName}, When: hostTools()},
		{Args: []string{"--permission-mode", "acceptEdits"}, When: unless("permission_mode", call.AccessWrite)},
		{Args: []string{"--dangerously-skip-permissions"}, When: unless("permission_mode", call.AccessFull)},
		{Args: []string{"--permission-mode={permission_mode}"}, When: setFor("permission_mode", agentAccess()...)},
		{Args: []string{"--system-prompt", "{system_default}"}, When: set("system_default")},
		{Args: []string{"--system-prompt-file", "{system_file}"}, When: set("system_replace")},
		{Args: []string{"--append-system-prompt-file", "{append_file}"}, When: set("system_append")},
		{Args: []string{"--model", "{model}"}, When: set("model")},
		{Args: []string{"--resume", "{session}"}, When: set("session")},
		{Args: []string{"--continue"}, When: oneRun(set("continue"))},
		{Args: []string{"--session-id", "{session_id}"}, When: set("session_id")},
		{Args: []string{"--effort", "{effort}"}, When: set("effort")},
		{Args: []string{"--max-turns", "{max_turns}"}, When: set("max_turns")},
		{Args: []string{"--max-budget-usd", "{max_budget_usd}"}, When: set("max_budget_usd")},
		{Args: []string{"--allowedTools={allowed_tools}"}, When: setFor("allowed_tools", agentAccess()...)},
		{Args: []string{"--disallowedTools={disallowed_tools}"}, When: setFor("disallowed_tools", agentAccess()...)},
		{Args: []string{"--json-schema", "{schema}"}, When: set("schema")},
		{Args: []string{"--mcp-config={mcp_file}"}, When: setFor("mcp_config", call.AccessWrite, call.AccessFull)},
		// Versions of half a year ago silently ignore the name of a file.
		{Args: []string{"--agents={agents}"}, When: setFor("agents", call.AccessWrite, call.AccessFull)},
		{Args: []string{"--fallback-model", "{fallback_model}"}, When: set("fallback_model")},
		{Args: []string{"--no-session-persistence"}, When: set("no_session_persistence")},
		{Args: []string{"--add-dir={add_dirs}"}, Each: "add_dirs", When: setFor("add_dirs", agentAccess()...)},
		extra(),
		{Args: []string{"--", "{prompt}"}, When: argv()},
	}
}

func claudeLines() []clispec.LineRule {
	return []clispec.LineRule{
		{
			Pattern: `--dangerously-skip-permissions cannot be used with root`, Reason: call.ReasonPermissionRefused,
			On: onStderr(), Hint: "run as another user, or set IS_SANDBOX=1 if this machine is a sandbox",
		},
		{
			Pattern: `No conversation found with session ID|--resume requires a valid session ID`, Reason: call.ReasonBadSession,
			Hint: goneHint,
		},
		{Pattern: `Session ID \S+ is already in use`, Reason: call.ReasonBadSession, On: onStderr(), Hint: takenHint},
		{Pattern: `error: unknown option`, Reason: call.ReasonUnsupported, On: onStderr(), Hint: updateHint},
		{Pattern: `--json-schema is not valid JSON`, Reason: call.ReasonBadOption, On: onStderr()},
		{Pattern: `issue with the selected model`, Reason: call.ReasonBadModel, On: onAnswer()},
		{Pattern: `(?i)organization has disabled|oauth token|/login`, Reason: call.ReasonUnauthenticated, On: onAnswer()},
	}
}

// claudeLive is stream-json in both directions. Each process has one conversation.
func claudeLive() clispec.LiveRules {
	user := func(content string) []clispec.LiveMessage {
		return []clispec.LiveMessage{
			{Method: "user", Notice: true, Params: `{"message":{"role":"user","content":` + content + `}}`},
		}
	}
	return clispec.LiveRules{
		Envelope: clispec.EnvelopeControl, Cumulative: []string{"cost_usd"}, Of: "session_id",
		Ready: []clispec.LiveMessage{{Method: "initialize"}},
		Turn:  user("{prompt:json}"), Clear: user(`"/clear"`),
		Interrupt: []clispec.LiveMessage{{Method: "interrupt"}},
		// This version reports the windows in each turn. The first one that does has not been determined.
		Usage: []clispec.LiveMessage{{Method: "get_usage", When: clispec.When{Before: "2.1.329"}}},
		Asks: []clispec.AskRule{{
			Method: "can_use_tool", Tool: "tool_name", Input: "input",
			Allow: `{"behavior":"allow","updatedInput":{input}}`, Deny: `{"behavior":"deny","message":"this is not permitted"}`,
		}},
	}
}
