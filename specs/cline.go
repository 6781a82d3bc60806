package specs

import (
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Cline is the Cline CLI. It has no access levels read and write: its tools can be denied only by name, so a tool of
// a later version would run unasked. It resumes a session only in its terminal interface.
func Cline() clispec.Spec {
	return clispec.Spec{
		Name: "cline", Binary: "cline", Packages: []string{"cline", "@cline/cli-linux-x64"},
		ProviderSlug: "cline-cli", DefaultModel: "cline-default", CheckedWith: "3.0.65",
		// The system text is an argument, so the caller's system text goes in front of the prompt.
		Transports: []clispec.Transport{clispec.TransportStdin},
		// Not text, which the CLI decorates for a terminal.
		Outputs: []clispec.OutputMode{clispec.OutputStream},
		// The CLI stores the session after its last event.
		LingerMS: 3000,
		// "/team" and the names of workflows are commands. The CLI trims the prompt first, but not this character.
		Guards: []clispec.GuardRule{{Pattern: `^[\s\pZ\x{feff}]*/`, Prefix: "\u200b"}},
		// Without this file the CLI uses the directory of a repository above as its workspace.
		GuardFiles: []string{".git"},
		Preflight:  clinePreflight(),
		Files:      clineFiles(),
		Args:       clineArgs(),
		Env:        clineEnv(),
		// Not CLINE_*, because there are variables that attach to a hub, replay answers, and record whole requests.
		PassEnv:   []string{"CLINE_API_KEY", "CLINE_DIR", "CLINE_DATA_DIR", "CLINE_PROVIDER_SETTINGS_PATH"},
		PassEnvIf: clinePass(),
		Models:    clispec.ModelRules{Accept: []string{`[^/\s]+/\S+`}},
		Login:     clineLogin(), Confine: clinePaths(),
		Events: clineEvents(), ToolEvents: clispec.ToolsAtStart,
		Lines: clineLines(),
		Hints: map[call.Reason]string{
			call.ReasonNotInstalled:    "npm install -g cline",
			call.ReasonUnauthenticated: "run `cline auth`",
		},
	}
}

// clinePath matches a path after an "@" as the CLI finds it anywhere in a prompt. The CLI sends the content of that
// file at any access level, and no option turns that off.
const clinePath = `(?s).*@(?:"(?:/|~/|\.{1,2}/)[^"\r\n]+"|(?:/|~/|\.{1,2}/)\S).*`

func clinePreflight() []clispec.PreflightRule {
	return []clispec.PreflightRule{
		{
			Match: map[string]string{"prompt": clinePath}, Reason: call.ReasonUnsupported,
			Message: "prompt: cline attaches the file of a path that follows an @, such as @/etc/hosts or @./notes.txt: " +
				"put a space after the @",
		},
		{
			Match: map[string]string{"model": `(?s).+`}, Reason: call.ReasonUnsupported,
			UnlessEnv: []string{"CLINE_PROVIDER_SETTINGS_PATH"},
			Message: "model: cline would make it the default model of the user, also for calls outside clichain: " +
				"choose it in cline, or set CLINE_PROVIDER_SETTINGS_PATH to a copy of cline's providers.json",
		},
	}
}

// clineTools are the tools that the CLI knows.
func clineTools() []string {
	tools := []string{
		"read_files", "search_codebase", "run_commands", "fetch_web_content", "editor", "apply_patch", "ask_question",
		"skills", "submit_and_exit", "spawn_agent",
	}
	for _, tool := range []string{
		"spawn_teammate", "shutdown_teammate", "status", "task", "run_task", "cancel_run", "list_runs", "await_runs",
		"send_message", "broadcast", "read_mailbox", "mission_log", "cleanup", "create_outcome", "attach_outcome_fragment",
		"review_outcome_fragment", "finalize_outcome", "list_outcomes",
	} {
		tools = append(tools, "team_"+tool)
	}
	return tools
}

// clineFiles are settings that replace the user's: no tools and no MCP servers.
func clineFiles() []clispec.FileRow {
	// The vendor's web search costs money, and is no tool of the CLI.
	settings := `{"telemetryOptOut":true,"autoUpdateEnabled":false,"compactionEnabled":false,` +
		`"tools":{"web_search":{"enabled":false}},"disabledTools":["` + strings.Join(clineTools(), `","`) + `"]}`
	none := access(call.AccessNone)
	return []clispec.FileRow{
		{Field: "settings", Name: "settings.json", Content: settings, When: none},
		{Field: "servers", Name: "servers.json", Content: `{"mcpServers":{}}`, When: none},
	}
}

func clineArgs() []clispec.ArgRow {
	return []clispec.ArgRow{
		{Args: []string{"--json"}, When: access(call.AccessNone, call.AccessFull)},
		// The CLI denies a tool that these settings do not list.
		{Args: []string{"--auto-approve=false"}, When: access(call.AccessNone)},
		{Args: []string{"--act", "--auto-approve=true"}, When: access(call.AccessFull)},
		// This replaces the CLI's own long text, with the rules of the user and of the directory.
		{Args: []string{"--system=" + defaultSystem}, When: access(call.AccessNone)},
		{Args: []string{"--model={model}"}, When: set("model")},
		{Args: []string{"--thinking={effort}"}, When: set("effort")},
		extra(),
		// With --json the CLI reads stdin only if there is an argument, and puts the argument before it.
		{Args: []string{" "}, When: stdin()},
	}
}

func clineEnv() []clispec.EnvRow {
	rows := []clispec.EnvRow{
		// Otherwise the CLI starts a daemon, which outlives the call.
		{Name: "CLINE_SESSION_BACKEND_MODE", Value: "local"},
		{Name: "CLINE_NO_AUTO_UPDATE", Value: "1"},
		{Name: "CLINE_GLOBAL_SETTINGS_PATH", Value: "{settings_file}", When: set("settings_file")},
		{Name: "CLINE_MCP_SETTINGS_PATH", Value: "{servers_file}", When: set("servers_file")},
	}
	for _, name := range []string{"SESSION", "DB", "TEAM"} { // no call continues a session that the CLI stores there
		rows = append(rows, clispec.EnvRow{Name: "CLINE_" + name + "_DATA_DIR", Value: "{temp}/" + strings.ToLower(name)})
	}
	for _, row := range quietGit() { // the CLI inspects the repository by itself
		row.When = access(call.AccessNone)
		rows = append(rows, row)
	}
	return rows
}

func clineEvents() []clispec.EventRule {
	event := func(kind string, more ...string) map[string]string {
		return pairs(append([]string{"type", "agent_event", "event.type", kind}, more...)...)
	}
	part := func(kind, content string) map[string]string { return event(kind, "event.contentType", content) }
	usage := map[string]string{
		"input_tokens": "event.inputTokens", "output_tokens": "event.outputTokens", "turns": "=1",
		"cache_read_tokens": "event.cacheReadTokens", "cache_write_tokens": "event.cacheWriteTokens",
	}
	const tool = "event.toolCallId"
	return []clispec.EventRule{
		{
			Match: pairs("type", "hook_event", "hookEventName", "agent_start"), Kind: call.EventStatus,
			Set: pairs("text", "=asked"),
		},
		{Match: event("iteration_start"), Kind: call.EventStatus, Set: pairs("text", "=turn")},
		{Match: part("content_start", "text"), Kind: call.EventDelta, Set: pairs("text", "event.text")},
		{Match: part("content_start", "reasoning"), Kind: call.EventThinking, Set: pairs("text", "event.reasoning")},
		{Match: part("content_end", "text"), Kind: call.EventText, Set: pairs("text", "event.text")},
		{
			Match: part("content_start", "tool"), Kind: call.EventToolUse,
			Set: pairs("id", tool, "name", "event.toolName", "input", "event.input"),
		},
		{
			Match: event("content_end", "event.contentType", "tool", "event.error", "(?s).+"), Kind: call.EventToolResult,
			Last: true, Set: pairs("id", tool, "text", "event.error", "failed", "=true"),
		},
		{Match: part("content_end", "tool"), Kind: call.EventToolResult, Set: pairs("id", tool, "text", "event.output")},
		{Match: event("usage"), Kind: call.EventUsage, Set: usage},
		{
			Match: pairs("type", "run_result"), Kind: call.EventSession, Set: pairs("model", "model.id"),
		},
		// The CLI reports 0 if it does not know the price.
		{
			Match: pairs("type", "run_result", "aggregateUsage.totalCost", ".*[1-9].*"), Kind: call.EventUsage,
			Set: pairs("cost_usd", "aggregateUsage.totalCost"),
		},
		{
			Match: pairs("type", "run_result", "finishReason", "completed"), Kind: call.EventResult, Terminal: true,
			Set: pairs("text", "text"),
		},
		{
			Match: pairs("type", "run_result", "finishReason", "error"), Kind: call.EventError, Terminal: true,
			Set: pairs("message", "text"),
		},
		{
			Match: pairs("type", "run_result", "finishReason", "[^ce].*"), Kind: call.EventResult, Terminal: true,
			Set: pairs("failed", "=true", "message", "finishReason"),
		},
		{Match: pairs("type", "error"), Kind: call.EventError, Terminal: true, Set: pairs("message", "message")},
	}
}

func clineLines() []clispec.LineRule {
	failed := []clispec.Evidence{clispec.OnEvent, clispec.OnStderr}
	return []clispec.LineRule{
		// The CLI prints the service's message without its status.
		{
			Pattern: `Country, region, or territory not supported`, Reason: call.ReasonUnauthenticated, On: failed,
		},
		{
			Pattern: `unknown option '-|invalid thinking level`, Reason: call.ReasonUnsupported, On: failed, Hint: updateHint,
		},
		{Pattern: `The server had an error while processing`, Reason: call.ReasonServerError, On: failed},
		{Pattern: `^Model returned empty response`, Reason: call.ReasonEmpty, On: failed},
		{Pattern: `^Cannot connect to API`, Reason: call.ReasonNetwork, On: failed},
		{Pattern: `(?i)missing API key|API key is missing|No credentials`, Reason: call.ReasonUnauthenticated, On: failed},
	}
}

// clineFolder is the directory in which cline stores the settings and credentials of its user.
const clineFolder = "${CLINE_DATA_DIR:-~/.cline/data}/settings/"

// clineLogin is the login that `cline auth` stored for the last used provider, or a key in the environment.
func clineLogin() clispec.LoginRules {
	var keys []string
	for _, v := range vendors() {
		keys = append(keys, v.pass...)
	}
	file := func(keys string) clispec.LoginWay {
		return clispec.LoginWay{Files: []clispec.FileFact{{Path: clineFolder + "providers.json", Keys: keys}}, Unsure: true}
	}
	return clispec.LoginRules{Ways: []clispec.LoginWay{
		// One of several providers; the CLI may use another one.
		file("apiKey|accessToken|aws|gcp|azure|baseUrl|headers"),
		{Env: append([]string{"CLINE_API_KEY", "CLINE_PROVIDER_SETTINGS_PATH", "CLINE_DIR"}, keys...), Unsure: true},
	}}
}

// clinePass has the environment variables of the vendor of the last used provider.
func clinePass() (rules []clispec.PassRule) {
	for _, v := range vendors() {
		rules = append(rules, clispec.PassRule{Pass: v.pass, Files: []clispec.FileFact{
			{Path: clineFolder + "providers.json", JSON: pairs("lastUsedProvider", v.name)},
		}})
	}
	return withFiles(rules)
}
