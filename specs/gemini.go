package specs

import (
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Gemini is Google's Gemini CLI.
func Gemini() clispec.Spec {
	return clispec.Spec{
		Name: "gemini", Binary: "gemini", Packages: []string{"@google/gemini-cli"},
		ProviderSlug: "google-cli", DefaultModel: "gemini-desktop",
		Vendor: "google", MCPClients: []string{"gemini-cli-mcp-client*"},
		PromptStyle:   clispec.DashP,
		SystemDefault: defaultSystem, CheckedWith: "0.61.0",
		Transports: []clispec.Transport{clispec.TransportStdin, clispec.TransportArgv},
		Outputs:    []clispec.OutputMode{clispec.OutputStream, clispec.OutputJSON, clispec.OutputText},
		// After a run with a shell tool the CLI needs half a second to exit.
		LingerMS: 1500,
		// "/bug", "/init" and custom commands never reach the model as they are written. With a line break in front
		// they do.
		Guards: []clispec.GuardRule{{Pattern: `^/`, Prefix: "\n"}},
		// The CLI loads the first .env in the directory and its parents, and reads each GEMINI.md up to a directory
		// with .git.
		GuardFiles:  []string{".gemini/.env", ".git"},
		FolderFiles: []string{"./.env", "./.gemini/.env", "./GEMINI.md", ".gemini/skills", ".agents/skills"},
		Files:       geminiFiles(),
		Args:        geminiArgs(),
		ReadTools:   geminiReadTools(), AgentTools: append(geminiReadTools(), "write_file", "replace"),
		Env: geminiEnv(),
		PassEnv: []string{
			"GEMINI_*", "GOOGLE_API_KEY", "GOOGLE_GENAI_*", "GOOGLE_GEMINI_*", "GOOGLE_VERTEX_BASE_URL", "CLOUD_SHELL",
			"CODE_ASSIST_ENDPOINT",
		},
		PassEnvIf: geminiPass(),
		DropEnv:   []string{"GEMINI_SYSTEM_MD", "GEMINI_RESTRICTED_MODE"},
		NestedEnv: []string{"GEMINI_CLI"},
		Models:    geminiModels(),
		Login:     geminiLogin(), Confine: geminiPaths(),
		Trust: []clispec.FileFact{
			{Path: "${GEMINI_CLI_HOME:-~}/.gemini/trustedFolders.json", JSON: pairs("{dir}", "TRUST_(FOLDER|PARENT)")},
		},
		Sessions: clispec.SessionRules{ID: uuid, DirBound: true},
		Preflight: []clispec.PreflightRule{
			bypass("yolo"),
			filled("system_replace", `AgentSkills|SubAgents|AvailableTools|\w+_ToolName`),
		},
		Live:   geminiLive(),
		Events: geminiEvents(), ToolEvents: clispec.ToolsAtStart,
		Text:  clispec.TextRule{AnswerOnly: true},
		Lines: geminiLines(),
		ExitCodes: map[int]call.Reason{
			41: call.ReasonUnauthenticated,
			42: call.ReasonBadRequest,
			53: call.ReasonBadOutput, // turn limit
			55: call.ReasonUntrustedDir,
		},
		Hints: map[call.Reason]string{
			call.ReasonNotInstalled: "npm install -g @google/gemini-cli",
			call.ReasonUnauthenticated: "set GEMINI_API_KEY, or run `gemini` and log in with " +
				"the account of a company: it takes no other any more",
			call.ReasonUntrustedDir: "run `gemini` there once and trust the directory",
		},
	}
}

func geminiEnv() []clispec.EnvRow {
	return []clispec.EnvRow{
		// The CLI reads settings before its arguments. With this variable the directory is not trusted, and its
		// settings, hooks and servers have no effect, even if the user trusts it. Later --skip-trust decides; without
		// it no call in such a directory would continue.
		{Name: "GEMINI_CLI_TRUST_WORKSPACE", Value: "false", When: unset("trust_dir")},
		{Name: "GEMINI_CLI_TRUST_WORKSPACE", Value: "true", When: set("trust_dir")},
		// Version 0.43 accepts only "true", and otherwise reads this file, which does not exist.
		{
			Name: "GEMINI_CLI_TRUSTED_FOLDERS_PATH", Value: "{temp}/none.json",
			When: unless("trust_dir", call.AccessRead, call.AccessWrite),
		},
		// The CLI leaves error reports in the temporary directory.
		{Name: "TMPDIR", Value: "{temp}", When: access(call.AccessNone, call.AccessRead)},
		// The directory is private then, and holds only the settings of clichain.
		{Name: "GEMINI_CLI_TRUST_WORKSPACE", Value: "true", When: geminiTools()},
		{Name: "GEMINI_SYSTEM_MD", Value: "{system_file}", When: set("system_replace")},
	}
}

func geminiModels() clispec.ModelRules {
	return clispec.ModelRules{
		Accept: []string{`(?i)([\w/-]*models/)?(gemini|gemma)-[\w.:@-]+`, `auto(-gemini-[\w.]+)?|pro|flash|flash-lite`},
		List: []clispec.ListRule{{
			Live: clispec.LiveMessage{Method: "session/new", Params: `{"cwd":{dir:json},"mcpServers":[]}`},
			Path: "models.availableModels", Set: pairs("name", "modelId", "title", "name"),
		}},
		ChoiceCosts: "a request more, of 3.5 kB, in which a small model chooses",
	}
}

func geminiFiles() []clispec.FileRow {
	return append(geminiToolFiles(), []clispec.FileRow{
		{Field: "system", Name: "system.md", Content: "{system}", When: set("system_replace")},
		{Field: "policy", Name: "none.toml", Content: geminiDenyAll, When: unless("host_url", call.AccessNone)},
		{
			Field: "policy", Name: "read.toml",
			Content: geminiDenyAll + geminiRead(`["`+strings.Join(geminiReadTools(), `", "`)+`"]`),
			When:    unless("allowed_tools", call.AccessRead),
		},
		{
			Field: "policy", Name: "read.toml", Content: geminiDenyAll + geminiRead("{allowed_tools:list}"),
			When: setFor("allowed_tools", call.AccessRead),
		},
		{
			Field: "allow", Name: "allow.toml", Content: geminiAllow,
			When: setFor("allowed_tools", call.AccessWrite, call.AccessFull),
		},
		{Field: "deny", Name: "deny.toml", Content: geminiDeny, When: setFor("disallowed_tools", agentAccess()...)},
	}...)
}

func geminiReadTools() []string {
	return []string{"read_file", "read_many_files", "list_directory", "glob", "grep_search"}
}

func geminiArgs() []clispec.ArgRow {
	return []clispec.ArgRow{
		{Args: []string{"--skip-trust"}},
		{Args: []string{"--acp"}, When: output(clispec.OutputLive)},
		{Args: []string{"-o", "stream-json"}, When: output(clispec.OutputStream)},
		{Args: []string{"-o", "json"}, When: output(clispec.OutputJSON)},
		{Args: []string{"-o", "text"}, When: output(clispec.OutputText)},
		// Settings can name policies above the user's, and a project's policies would override these.
		{
			Args: []string{"--policy", "{policy_file}", "--admin-policy", "{policy_file}"},
			When: access(call.AccessNone, call.AccessRead),
		},
		{Args: []string{"--allowed-mcp-server-names", "none", "-e", "none"}, When: unless("host_url", call.AccessNone)},
		{Args: []string{"--allowed-mcp-server-names", hostName, "-e", "none"}, When: geminiTools()},
		{Args: []string{"--policy", "{allow_file}"}, When: setFor("allowed_tools", call.AccessWrite, call.AccessFull)},
		{Args: []string{"--policy", "{deny_file}"}, When: setFor("disallowed_tools", agentAccess()...)},
		{Args: []string{"--admin-policy", "{deny_file}"}, When: setFor("disallowed_tools", call.AccessRead)},
		{Args: []string{"--approval-mode", "auto_edit"}, When: unless("permission_mode", call.AccessWrite)},
		{Args: []string{"--approval-mode", "yolo"}, When: unless("permission_mode", call.AccessFull)},
		{Args: []string{"--approval-mode={permission_mode}"}, When: setFor("permission_mode", agentAccess()...)},
		// The CLI splits each value at its commas.
		{Args: []string{"--include-directories={add_dirs}"}, When: setFor("add_dirs", agentAccess()...)},
		{Args: []string{"-m", "{model}"}, When: set("model")},
		{Args: []string{"--resume", "{session}"}, When: oneRun(set("session"))},
		{Args: []string{"--resume", "latest"}, When: oneRun(set("continue"))},
		{Args: []string{"--session-id", "{session_id}"}, When: oneRun(set("session_id"))},
		extra(),
		{Args: []string{"--prompt={prompt}"}, When: argv()},
	}
}

// These rules remove the denied tools from the request, instead of refusing them when the model uses one.
const geminiDenyAll = `[[rule]]
toolName = "*"
decision = "deny"
priority = 900
`

// geminiRead allows a list of tools.
func geminiRead(tools string) string {
	return "\n[[rule]]\ntoolName = " + tools + "\ndecision = \"allow\"\npriority = 901\n"
}

const geminiAllow = `[[rule]]
toolName = {allowed_tools:list}
decision = "allow"
priority = 902
`

const geminiDeny = `[[rule]]
toolName = {disallowed_tools:list}
decision = "deny"
priority = 903
`

// geminiEvents reads stream-json, then the document of json, which has no type.
func geminiEvents() []clispec.EventRule {
	usage := map[string]string{
		"input_tokens": "stats.input_tokens", "output_tokens": "stats.output_tokens", "cache_read_tokens": "stats.cached",
	}
	return []clispec.EventRule{
		{Match: pairs("type", "init"), Kind: call.EventSession, Set: pairs("session", "session_id", "model", "model")},
		{
			Match: pairs("type", "message", "role", "assistant", "delta", "true"), Kind: call.EventDelta, Last: true,
			Set: pairs("text", "content"),
		},
		{
			Match: pairs("type", "message", "role", "assistant", "delta", "(false)?"), Kind: call.EventText,
			Set: pairs("text", "content"),
		},
		{Match: pairs("type", "message", "role", "user"), Kind: call.EventStatus, Set: pairs("text", "=asked")},
		{
			Match: pairs("type", "tool_use"), Kind: call.EventToolUse,
			Set: pairs("id", "tool_id", "name", "tool_name", "input", "parameters"),
		},
		{
			Match: pairs("type", "tool_result"), Kind: call.EventToolResult,
			Set: pairs("id", "tool_id", "text", "output ?? error.message", "failed", "status"),
		},
		{
			Match: pairs("type", "error", "severity", "warning"), Kind: call.EventWarning, Set: pairs("message", "message"),
			Last: true,
		},
		{Match: pairs("type", "error"), Kind: call.EventError, Set: pairs("message", "message")},
		{
			Match: pairs("type", "result", "status", "error"), Kind: call.EventResult, Terminal: true, Last: true,
			Set: with(usage, "failed", "=true", "message", "error.message"),
		},
		{Match: pairs("type", "result"), Kind: call.EventResult, Terminal: true, Set: usage},

		{Match: pairs("type", "", "session_id", ".+", "error.message", ".+"), Kind: call.EventResult, Terminal: true,
			Last: true,
			Set:  pairs("session", "session_id", "failed", "=true", "message", "error.message")},
		// One model may have chosen another, which answers.
		{
			Match: pairs("type", "", "session_id", ".+", "@.value.roles.main", ".+"), Each: "stats.models|@members",
			Kind: call.EventSession, Set: pairs("model", "@.key"),
		},
		{Match: pairs("type", "", "session_id", ".+"), Each: "stats.models|@members", Kind: call.EventUsage,
			Set: map[string]string{
				"input_tokens": "@.value.tokens.prompt", "output_tokens": "@.value.tokens.candidates",
				"cache_read_tokens": "@.value.tokens.cached",
			}},
		{
			Match: pairs("type", "", "session_id", ".+", "response", ".*", "stats", ".+"), Kind: call.EventResult,
			Terminal: true, Set: pairs("session", "session_id", "text", "response"),
		},
	}
}

// geminiClosed is the hint for individual accounts.
const geminiClosed = "set GEMINI_API_KEY, or use its successor `agy`, which takes that login"

func geminiLines() []clispec.LineRule {
	return []clispec.LineRule{
		// The CLI retries only after a quota per minute, not after that of a plan.
		{
			Pattern: `Attempt (?P<attempt>\d+) failed: .*current quota(?:.*Retrying after (?P<delay>\d+ms))?`,
			Kind:    call.EventRetry, On: onStderr(), Reason: call.ReasonRateLimited,
		},
		{
			Pattern: `Suggested retry after (?P<delay>[\d.]+m?s)`, Kind: call.EventRetry, On: onStderr(),
			Reason: call.ReasonRateLimited,
		},
		{
			Pattern: `Attempt (?P<attempt>\d+) failed(?: with (?:status )?(?P<status>\d{3}))?(?:.*?(?P<message>\{.*\}))?`,
			Kind:    call.EventRetry, On: onStderr(),
		},
		{
			Pattern: `must specify the GEMINI_API_KEY|set an Auth method|Please set an Auth`, Reason: call.ReasonUnauthenticated,
		},
		{Pattern: `Invalid auth method`, Reason: call.ReasonUnauthenticated},
		// Since June 2026 this CLI refuses the logins of individual accounts, and only another login helps. An
		// account may be refused for other reasons too.
		{
			Pattern: `(?P<message>This client is no longer supported for Gemini Code Assist.*)`,
			Reason:  call.ReasonUnauthenticated, CooldownS: day, Hint: geminiClosed,
		},
		{
			Pattern: `IneligibleTierError: (?P<message>.+)`, Reason: call.ReasonUnauthenticated, CooldownS: day,
			Hint: "use another account, or set GEMINI_API_KEY",
		},
		{Pattern: `(?:API |Type)Error: terminated`, Reason: call.ReasonNetwork}, // the stream broke off
		{Pattern: `model returned an empty response`, Reason: call.ReasonEmpty},
		{Pattern: `not running in a trusted directory`, Reason: call.ReasonUntrustedDir, On: onStderr()},
		{Pattern: `Session ID "\S+" already exists`, Reason: call.ReasonBadSession, On: onStderr(), Hint: takenHint},
		{Pattern: `Unknown arguments?:`, Reason: call.ReasonUnsupported, On: onStderr(), Hint: updateHint},
		{
			Pattern: `(?i)error resuming session|no previous sessions|invalid session identifier`, Reason: call.ReasonBadSession,
			On: onStderr(), Hint: goneHint,
		},
	}
}

// geminiLive: at access level write the CLI would have five more tools than in a call, and asks before using them.
// Its sessions cannot be closed, so they leak.
func geminiLive() clispec.LiveRules {
	const quota = "result._meta.quota.token_count."
	r := acpLive(clispec.EventRule{
		Match: pairs("method", "session/prompt", quota+"input_tokens", "0", quota+"output_tokens", "0"),
		Kind:  call.EventResult, Terminal: true, Last: true,
		Set: pairs(
			"failed", "=true", "message", "=the CLI interpreted the prompt as a command; the model was not asked",
		),
	})
	r.When = access(call.AccessNone, call.AccessRead, call.AccessFull)
	r.Calls = 15
	r.Resume = nil // session/load empties a session that began in the same minute
	// The CLI trims the prompt before it searches for "/" and "$", but not this character, which the model does not
	// see.
	r.Guards = []clispec.GuardRule{{Pattern: "^[\\s\ufeff]*[/$]", Prefix: "\u200b"}}
	return r
}
