package specs

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Copilot is the GitHub Copilot CLI.
func Copilot() clispec.Spec {
	return clispec.Spec{
		Name: "copilot", Binary: "copilot", Packages: []string{"@github/copilot"},
		ProviderSlug: "github-copilot-cli", DefaultModel: "copilot-default",
		SystemDefault: defaultSystem, CheckedWith: "1.0.102",
		// Not argv: other users can read arguments in the list of processes.
		Transports: []clispec.Transport{clispec.TransportStdin},
		Outputs:    []clispec.OutputMode{clispec.OutputStream, clispec.OutputText},
		// "/compact" and "/autopilot" are commands of the CLI. It trims the prompt before it searches for them, but
		// not this character, which the model does not see.
		Guards: []clispec.GuardRule{{Pattern: `^[\s\pZ\x{feff}]*/`, Prefix: "\u200b"}},
		// The CLI searches for a repository above, and obeys its files if its user trusts the directory.
		GuardFiles: []string{".git"},
		FolderFiles: []string{
			"./.github/hooks", "./.github/copilot", "./.claude/settings.json", "./.claude/settings.local.json", "./.mcp.json",
			"./.github/mcp.json",
		},
		Files: copilotFiles(),
		Args:  copilotArgs(),
		// The names of its tools. Permissions name kinds of tools instead: see copilotArgs.
		ReadTools: copilotReadTools(),
		Env:       copilotEnv(),
		PassEnv:   []string{"COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "GH_CONFIG_DIR"},
		// Each of these variables lets a directory, or the model, do more than the access level allows.
		DropEnv: []string{
			"COPILOT_ALLOW_ALL", "COPILOT_ASSISTED_APPROVAL", "COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "COPILOT_SKILLS_DIRS",
			"GITHUB_COPILOT_PROMPT_MODE_*", "COPILOT_RUN_APP", "COPILOT_DETACHED*",
		},
		NestedEnv: []string{
			"COPILOT_CLI", "COPILOT_AGENT_SESSION_ID", "COPILOT_LOADER_PID", "COPILOT_CLI_BINARY_VERSION",
			"COPILOT_CLI_RESOLVED_DIST_DIR",
		},
		Models: clispec.ModelRules{
			Accept: []string{`(?i)auto|(claude|gpt|gemini|grok|kimi|mai)-[\w.:-]+`},
		},
		Login: copilotLogin(), Confine: copilotPaths(),
		Trust: []clispec.FileFact{
			{Path: "${COPILOT_HOME:-~/.copilot}/config.json", Pattern: `(?s)"trustedFolders"\s*:\s*\[[^\]]*"{dir}"`},
		},
		Sessions: clispec.SessionRules{ID: uuid},
		LingerMS: 1500,
		Events:   copilotEvents(), ToolEvents: clispec.ToolsAtStart,
		Text:  clispec.TextRule{AnswerOnly: true},
		Lines: copilotLines(),
		Hints: map[call.Reason]string{
			call.ReasonNotInstalled:    "npm install -g @github/copilot",
			call.ReasonUnauthenticated: "run `copilot` and log in with /login, or set COPILOT_GITHUB_TOKEN",
		},
	}
}

// copilotFiles are a plugin with one agent, which adds a system text to the CLI's own. No directory can have an agent
// of that name.
func copilotFiles() []clispec.FileRow {
	plugin := func(text string, when clispec.When) []clispec.FileRow {
		return []clispec.FileRow{
			{
				Field: "plugin", Name: "plugin.json", Content: `{"name":"clichain@{temp:text}","version":"1.0.0","agents":"./"}`,
				When: when,
			},
			{
				Field: "agent", Name: "clichain.agent.md",
				Content: "---\nname: clichain\ndescription: the system text of a call\n---\n" + text, When: when,
			},
		}
	}
	return append(append(
		plugin("{system}", setFor("system", call.AccessNone)),
		plugin("{system_append}", setFor("system_append", agentAccess()...))...),
		// It may hold secrets.
		clispec.FileRow{
			Field: "mcp", Name: "servers.json", Content: "{mcp_config}",
			When: setFor("mcp_config", call.AccessWrite, call.AccessFull),
		},
	)
}

func copilotReadTools() []string { return []string{"view", "grep", "glob"} }

func copilotArgs() []clispec.ArgRow {
	return []clispec.ArgRow{
		{Args: []string{"--output-format=json", "--stream=on"}, When: output(clispec.OutputStream)},
		{Args: []string{"--silent"}, When: output(clispec.OutputText)},
		// An empty list would be no list. This is the name of no tool.
		{Args: []string{"--available-tools=none"}, When: access(call.AccessNone)},
		{Args: []string{"--available-tools=view,grep,glob"}, When: unless("allowed_tools", call.AccessRead)},
		{Args: []string{"--available-tools={allowed_tools}"}, When: setFor("allowed_tools", call.AccessRead)},
		// The CLI permits tools by kinds, such as "write" and "shell(git:*)", and denies those that would need a
		// question.
		{Args: []string{"--allow-tool=write"}, When: access(call.AccessWrite)},
		{
			Args: []string{"--allow-tool={allowed_tools}"}, Each: "allowed_tools",
			When: setFor("allowed_tools", call.AccessWrite, call.AccessFull),
		},
		{
			Args: []string{"--deny-tool={disallowed_tools}"}, Each: "disallowed_tools",
			When: setFor("disallowed_tools", agentAccess()...),
		},
		{Args: []string{"--disallow-temp-dir"}, When: access(call.AccessRead, call.AccessWrite)},
		{Args: []string{"--allow-all"}, When: access(call.AccessFull)},
		// The CLI does not distinguish skills of the directory from those of the user.
		{Args: []string{"--excluded-tools=skill,task,lsp"}, When: unless("trust_dir", call.AccessWrite)},
		{Args: []string{"--disable-builtin-mcps"}, When: access(call.AccessNone, call.AccessRead)},
		{Args: []string{"--no-custom-instructions"}, When: unset("trust_dir")},
		{Args: []string{"--trust-folder"}, When: clispec.When{Set: []string{"trust_dir"}, Unset: []string{"session"}}},
		{Args: []string{"--plugin-dir={temp}", "--agent=clichain@{temp}:clichain"}, When: set("agent_file")},
		{Args: []string{"--model={model}"}, When: set("model")},
		{Args: []string{"--resume={session}"}, When: set("session")},
		{Args: []string{"--reasoning-effort={effort}"}, When: set("effort")},
		{
			Args: []string{"--additional-mcp-config=@{mcp_file}"}, When: setFor("mcp_config", call.AccessWrite, call.AccessFull),
		},
		{Args: []string{"--add-dir={add_dirs}"}, Each: "add_dirs", When: setFor("add_dirs", agentAccess()...)},
		{Args: []string{"--attachment={images}"}, Each: "images", When: set("images")},
		extra(),
	}
}

func copilotEnv() []clispec.EnvRow {
	// Otherwise the CLI continues in the directory in which the session was made.
	rows := []clispec.EnvRow{{Name: "COPILOT_DISABLE_RESUME_AUTO_CD", Value: "1"}}
	for _, row := range quietGit() { // in the shell tool
		row.When = unless("trust_dir", call.AccessWrite)
		rows = append(rows, row)
	}
	return rows
}

func copilotEvents() []clispec.EventRule {
	// The text of a sub-agent is not the answer.
	mine := func(kind string, more ...string) map[string]string {
		return pairs(append([]string{"type", kind, "agentId", ""}, more...)...)
	}
	retry := pairs("try", "data.retryAttempt", "status", "data.statusCode", "message", "data.errorMessage")
	session, piece := pairs("session", "sessionId"), pairs("text", "data.deltaContent", "event_id", "id")
	return []clispec.EventRule{
		{Match: pairs("type", "user.message"), Kind: call.EventStatus, Set: pairs("text", "=asked")},
		{Match: mine("assistant.turn_start"), Kind: call.EventStatus, Set: pairs("text", "=turn")},
		{Match: mine("assistant.message_delta"), Kind: call.EventDelta, Set: piece},
		// In later turns the model may continue after the output limit of the last one. A block then has only the
		// continuation.
		{
			Match: mine("assistant.message", "data.turnId", "0", "data.content", "(?s).+"), Kind: call.EventText,
			Set: pairs("text", "data.content"),
		},
		{Match: mine("assistant.message"), Kind: call.EventSession, Set: pairs("model", "data.model")},
		{Match: mine("assistant.reasoning_delta"), Kind: call.EventThinking, Set: piece},
		{Match: mine("assistant.reasoning"), Kind: call.EventThinking, Set: pairs("text", "data.content", "whole", "=true")},
		{
			Match: pairs("type", "tool.execution_start"), Kind: call.EventToolUse,
			Set: pairs("id", "data.toolCallId", "name", "data.toolName", "input", "data.arguments"),
		},
		{
			Match: pairs("type", "tool.execution_complete", "data.success", "true"), Kind: call.EventToolResult,
			Set: pairs("id", "data.toolCallId", "text", "data.result.content"),
		},
		{
			Match: pairs("type", "tool.execution_complete", "data.success", "(false)?"), Kind: call.EventToolResult,
			Set: pairs("id", "data.toolCallId", "text", "data.error.message", "failed", "=true"),
		},
		{
			Match: pairs("type", "session.compaction_start"), Kind: call.EventCompact,
			Set: pairs("trigger", "data.trigger", "pre_tokens", "data.currentTokens"),
		},
		{Match: pairs("type", "session.warning"), Kind: call.EventWarning, Set: pairs("message", "data.message")},
		// The CLI retries these for up to half a minute. Other refusals are final.
		{Match: mine("model.call_failure", "data.statusCode", `401|408|429|5\d\d`), Kind: call.EventRetry, Set: retry},
		{
			Match: mine("model.call_failure", "data.statusCode", "", "data.failureKind", "transport"), Kind: call.EventRetry,
			Set: retry,
		},
		// Deltas of an interrupted answer.
		{Match: mine("assistant.turn_retry"), Kind: call.EventReset},
		{
			Match: pairs("type", "session.error", "data.errorType", "query|authentication"), Kind: call.EventError, Last: true,
			Set: pairs("code", "data.errorCode", "message", "data.message", "status", "data.statusCode"),
		},
		{
			Match: pairs("type", "session.error"), Kind: call.EventError,
			Set: pairs("code", "data.errorCode ?? data.errorType", "message", "data.message", "status", "data.statusCode"),
		},
		{Match: pairs("type", "result", "exitCode", "0"), Kind: call.EventResult, Terminal: true, Last: true, Set: session},
		{Match: pairs("type", "result"), Kind: call.EventResult, Terminal: true, Set: with(session, "failed", "=true")},
	}
}

func copilotLines() []clispec.LineRule {
	return []clispec.LineRule{
		{Pattern: `No response was returned`, Reason: call.ReasonEmpty},
		{Pattern: `exceeds the model's prompt budget`, Reason: call.ReasonContextOverflow},
		{
			Pattern: `(?:session_)?quota_exceeded|user_weekly_rate_limited`, Reason: call.ReasonUsageLimit,
			On: []clispec.Evidence{clispec.OnEvent},
		},
		{Pattern: `billing_not_configured`, Reason: call.ReasonBilling, On: []clispec.Evidence{clispec.OnEvent}},
		{
			Pattern: `(?:Failed native model HTTP request|Last error): .*(?:error decoding response body|error reading a body)`,
			Reason:  call.ReasonNetwork,
		},
		{Pattern: `Authentication failed with provider`, Reason: call.ReasonUnauthenticated},
		{
			Pattern: `No authentication information|Classic PAT|Authentication token validation failed`,
			Reason:  call.ReasonUnauthenticated, On: onStderr(),
		},
		{
			Pattern: `Model '[^']*' not found on provider|Model "[^"]*" (?:from --model flag )?is not available`,
			Reason:  call.ReasonBadModel,
		},
		{Pattern: `No session, task, or name matched`, Reason: call.ReasonBadSession, On: onStderr(), Hint: goneHint},
		{
			Pattern: `error: unexpected argument|No such agent: clichain`, Reason: call.ReasonUnsupported, On: onStderr(),
			Hint: updateHint,
		},
		{Pattern: `error: invalid value '[^']*' for`, Reason: call.ReasonBadOption, On: onStderr()},
		{Pattern: `(?m)^(?P<status>[45]\d\d) (?P<message>.+)`, On: onStderr()}, // in text mode
	}
}
