package specs

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Kimi is Moonshot AI's Kimi Code CLI. It has no access level write: if it cannot ask, it permits its tools
// everything, in any directory.
func Kimi() clispec.Spec {
	return clispec.Spec{
		Name: "kimi", Binary: "kimi", Packages: []string{"@moonshot-ai/kimi-code"},
		ProviderSlug: "moonshot-cli", DefaultModel: "kimi-default",
		Vendor:        "moonshot",
		SystemDefault: defaultSystem, CheckedWith: "2.1.0",
		Transports: []clispec.Transport{clispec.TransportArgv}, // the CLI reads no stdin
		// Not text, which the CLI formats with bullets and indentation.
		Outputs: []clispec.OutputMode{clispec.OutputStream},
		// The CLI stores the session after its last line.
		LingerMS: 3000,
		// "/goal" works for hours. The CLI trims the prompt before it searches for commands, but not this character,
		// which the model does not see.
		Guards: []clispec.GuardRule{{Pattern: `^[\s\pZ\x{feff}]*/goal`, Prefix: "\u200b"}},
		// In a directory that its user trusts, the CLI starts these servers and adds these directories.
		Preflight: []clispec.PreflightRule{
			filled("system_replace", `[A-Za-z_]\w*`), filled("system_append", `[A-Za-z_]\w*`),
		},
		FolderFiles: []string{"./.mcp.json", ".kimi-code/mcp.json", "./.kimi-code/local.toml"},
		Files:       kimiFiles(),
		Args:        kimiArgs(),
		Env: []clispec.EnvRow{
			// Without tools the reminder that all tools may run is superfluous.
			{Name: "KIMI_CODE_PERMISSION_MODE_REMINDER", Value: "0", When: access(call.AccessNone, call.AccessRead)},
			{Name: "KIMI_LOOP_MAX_STEPS_PER_TURN", Value: "{max_turns}", When: set("max_turns")},
			{Name: "KIMI_MODEL_THINKING_EFFORT", Value: "{effort}", When: set("effort")},
		},
		PassEnv:   []string{"KIMI_*"},
		PassEnvIf: kimiPass(),
		Models: clispec.ModelRules{
			Accept: []string{`(?i)(kimi|moonshot)[\w./:@-]*`},
			List:   []clispec.ListRule{{Args: []string{"provider", "list", "--json"}, Path: "models|@keys"}},
		},
		Login: kimiLogin(), Confine: kimiPaths(),
		Sessions: clispec.SessionRules{ID: `session_` + uuid, DirBound: true},
		Events:   kimiEvents(), ToolEvents: clispec.ToolsAtEnd,
		Lines: kimiLines(),
		Hints: map[call.Reason]string{
			call.ReasonNotInstalled:    "npm install -g @moonshot-ai/kimi-code",
			call.ReasonUnauthenticated: "run `kimi login`, or set KIMI_MODEL_NAME and KIMI_MODEL_API_KEY",
		},
	}
}

// kimiFiles are an agent whose text replaces the CLI's own. A session keeps the agent that it was made with.
func kimiFiles() []clispec.FileRow {
	const head, end = "---\nname: clichain\ndescription: asked by another program\n", "---\n"
	const none, read = head + "tools: []\n" + end,
		head + "tools: [Read, Glob, Grep]\ndisallowedTools: {disallowed_tools:list}\n" + end
	const full = head + "disallowedTools: {disallowed_tools:list}\n" + end
	row := func(content string, when clispec.When) clispec.FileRow {
		when.Unset = append(when.Unset, "session", "continue")
		return clispec.FileRow{Field: "agent", Name: "agent.md", Content: content, When: when}
	}
	return []clispec.FileRow{
		row(none+defaultSystem+"\n\n{system_append}", unless("system_replace", call.AccessNone)),
		row(none+"{system_replace}", setFor("system_replace", call.AccessNone)),
		row(
			read+"You read files and answer questions about them.\n\n{system_append}", unless("system_replace", call.AccessRead),
		),
		row(read+"{system_replace}", setFor("system_replace", call.AccessRead)),
		row(full+"{system_replace}", setFor("system_replace", call.AccessFull)),
	}
}

func kimiArgs() []clispec.ArgRow {
	return []clispec.ArgRow{
		{Args: []string{"--output-format=stream-json"}, When: access(call.AccessNone, call.AccessRead, call.AccessFull)},
		{Args: []string{"--agent-file={agent_file}"}, When: set("agent_file")},
		{Args: []string{"--model={model}"}, When: set("model")},
		// A session keeps the tools that it was made with. A session of a call without access has none, and its
		// directory has no other sessions.
		{Args: []string{"--session={session}"}, When: setFor("session", call.AccessNone, call.AccessFull)},
		{Args: []string{"--continue"}, When: setFor("continue", call.AccessFull)},
		{
			Args: []string{"--add-dir={add_dirs}"}, Each: "add_dirs", When: setFor("add_dirs", call.AccessRead, call.AccessFull),
		},
		extra(),
		{Args: []string{"--prompt={prompt}"}},
	}
}

// kimiEvents: the CLI reports a tool only after it has ended. It prints the last line only after a success.
func kimiEvents() []clispec.EventRule {
	meta := func(kind string, more ...string) map[string]string {
		return pairs(append([]string{"role", "meta", "type", kind}, more...)...)
	}
	return []clispec.EventRule{
		// The CLI lets the model continue after the interruption, and prints only the continuation.
		{Match: meta("turn.step.retrying", "error_message", "terminated"), Kind: call.EventWarning,
			Set: pairs("message", "=the connection broke off; what had come of the answer by then is missing from it")},
		{Match: meta("turn.step.retrying"), Kind: call.EventRetry, Set: pairs(
			"try", "failed_attempt", "delay_ms", "delay_ms", "status", "status_code", "code", "error_name",
			"message", "error_message")},
		{Match: pairs("role", "assistant", "content", "(?s).+"), Kind: call.EventText, Set: pairs("text", "content")},
		{
			Match: pairs("role", "assistant", "@.type", "function"), Each: "tool_calls", Kind: call.EventToolUse,
			Set: pairs("id", "@.id", "name", "@.function.name", "input", "@.function.arguments"),
		},
		{Match: pairs("role", "tool"), Kind: call.EventToolResult, Set: pairs("id", "tool_call_id", "text", "content")},
		{Match: meta("session.resume_hint"), Kind: call.EventResult, Terminal: true, Set: pairs("session", "session_id")},
	}
}

// kimiLines reads only the last lines, because the output of tools is on stderr too.
func kimiLines() []clispec.LineRule {
	last := func(pattern string, reason call.Reason, hint string) clispec.LineRule {
		return clispec.LineRule{
			Pattern: `(?m)^error: failed to run prompt: .*(?:` + pattern + `)`, Reason: reason, On: onStderr(), Hint: hint,
		}
	}
	const quota = `(?i)exceeded your current (?:token )?quota|check your account balance|insufficient balance|` +
		`recharge your account|please recharge|in arrears`
	return []clispec.LineRule{
		{Pattern: `^Warning: (?P<message>.+)`, Kind: call.EventWarning, On: onStderr()},
		{Pattern: `APIEmptyResponseError`, Reason: call.ReasonEmpty, On: onAnswer()},
		{Pattern: `APIConnectionError`, Reason: call.ReasonNetwork, On: onAnswer()},
		{Pattern: `(?m)^error: unknown option`, Reason: call.ReasonUnsupported, On: onStderr(), Hint: updateHint},
		last(`API returned an empty response`, call.ReasonEmpty, ""),
		last(`provider\.connection_error`, call.ReasonNetwork, ""),
		last(quota, call.ReasonBilling, ""),
		last(
			`No model configured|auth\.(?:login_required|token_missing|token_unauthorized|provisioning_required)`,
			call.ReasonUnauthenticated, "",
		),
		last(`Model "[^"]*" is not configured|model\.not_found`, call.ReasonBadModel, ""),
		last(`Session "[^"]*" (?:not found|was created under a different directory)`, call.ReasonBadSession, goneHint),
		last(`loop\.max_steps_exceeded|Provider safety policy blocked the response`, call.ReasonBadOutput, ""),
		last(`context\.overflow|APIContextOverflowError`, call.ReasonContextOverflow, ""),
		{Pattern: `(?m)^error: failed to run prompt: provider\.\w+: (?P<status>[45]\d\d) (?P<message>.+)`, On: onStderr()},
		last(`provider\.rate_limit`, call.ReasonRateLimited, ""),
		last(`provider\.overloaded`, call.ReasonOverloaded, ""),
		{Pattern: `(?m)^error: failed to run prompt: (?P<message>.+)`, On: onStderr()},
	}
}

// kimiLogin: a model in the environment has priority over those in the configuration. The providers there have their
// own keys or the token of `kimi login`.
func kimiLogin() clispec.LoginRules {
	const folder = "${KIMI_CODE_HOME:-~/.kimi-code}/"
	return clispec.LoginRules{Ways: []clispec.LoginWay{
		{Env: []string{"KIMI_MODEL_NAME"}, With: []string{"KIMI_MODEL_API_KEY"}, Billing: call.BillingAPIKey},
		{
			Files: []clispec.FileFact{
				{Path: folder + "config.toml", Pattern: `(?m)^[^#\n]*\b(api_key|apiKey|base_url|baseUrl)\b`},
			},
			Unsure: true,
		},
		{
			Files: []clispec.FileFact{
				{
					Path: folder + "credentials/kimi-code.json", JSON: pairs("access_token", ".+"), Expires: "expires_at",
					Refresh: "refresh_token",
				},
			},
			Billing: call.BillingSubscription,
		},
		{Files: []clispec.FileFact{{Path: folder + "credentials"}}, Unsure: true},
	}}
}

// kimiPass has the keys of other vendors, if the configuration has a provider of their type.
func kimiPass() []clispec.PassRule {
	rule := func(kind string, pass ...string) clispec.PassRule {
		return clispec.PassRule{Pass: pass, Files: []clispec.FileFact{{
			Path: "${KIMI_CODE_HOME:-~/.kimi-code}/config.toml", Pattern: `(?m)^[^#\n]*\btype\s*=\s*["'](` + kind + `)["']`,
		}}}
	}
	return []clispec.PassRule{
		rule("openai(_responses)?", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
		rule("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
		rule(
			"google-genai|gemini|vertexai", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL",
			"VERTEXAI_API_KEY",
		),
	}
}
