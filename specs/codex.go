package specs

import (
	"slices"

	"fmt"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Codex is OpenAI's Codex CLI.
func Codex() clispec.Spec {
	return clispec.Spec{
		Name: "codex", Binary: "codex", Packages: []string{"@openai/codex"},
		ProviderSlug: "openai-cli", DefaultModel: "codex-default",
		Vendor: "openai", MCPClients: []string{"codex-mcp-client"},
		PromptStyle:   clispec.RunSubcommand,
		SystemDefault: defaultSystem, CheckedWith: "0.169.0",
		Transports: []clispec.Transport{clispec.TransportStdin, clispec.TransportArgv},
		Outputs:    []clispec.OutputMode{clispec.OutputStream, clispec.OutputText},
		Answer:     clispec.AnswerLastBlock,
		Files: []clispec.FileRow{
			{Field: "system", Name: "system.md", Content: "{system_replace}", When: set("system_replace")},
			{Field: "schema", Name: "schema.json", Content: "{schema}", When: oneRun(set("schema"))},
		},
		// The CLI lists skills of the directory, and a "$name" in the prompt attaches one.
		FolderFiles: []string{".agents/skills", ".codex/skills"},
		Args:        codexArgs(),
		Env:         codexEnv(),
		Servers:     codexServers(),
		PassEnv:     []string{"CODEX_*", "OPENAI_*", "RUST_LOG"},
		PassEnvIf:   codexPass(),
		DropEnv:     []string{"CODEX_MANAGED_*", "CODEX_INTERNAL_*"},
		NestedEnv:   []string{"CODEX_SANDBOX*", "CODEX_THREAD_ID"},
		Models: clispec.ModelRules{
			Accept: []string{`(?i)((chat)?gpt|codex)-[\w.:-]+`, `o\d[\w.-]*`},
			List:   codexModels(),
		},
		Login: codexLogin(), Confine: codexPaths(),
		Trust: []clispec.FileFact{
			{
				Path:    "${CODEX_HOME:-~/.codex}/config.toml",
				Pattern: `(?m)^\[projects\."{dir}"\]\s*\n\s*trust_level\s*=\s*"trusted"`,
			},
		},
		// The CLI takes any other text as the name of a new session.
		Sessions: clispec.SessionRules{ID: uuid, SameID: true, Cumulative: []string{
			"input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
		}},
		Preflight: []clispec.PreflightRule{bypass("danger-full-access")},
		Quota: clispec.QuotaRules{
			Windows: []clispec.WindowRow{{Name: "primary"}, {Name: "secondary"}},
			File:    "${CODEX_HOME:-~/.codex}/sessions/*/*/*/rollout-*-{session}.jsonl",
			Ask:     clispec.LiveMessage{Method: "account/rateLimits/read"},
		},
		Live:   codexLive(),
		Events: codexEvents(), ToolEvents: clispec.ToolsAtStart,
		Text: clispec.TextRule{
			AnswerOnly: true, Prompt: "user",
			Own: `ERROR: .*|warning: .*|\d{4}-\d\d-\d\dT\S+ .*|tokens used|[\d,.]+`,
		},
		Lines: codexLines(),
		Hints: map[call.Reason]string{
			call.ReasonNotInstalled:    "npm install -g @openai/codex",
			call.ReasonUnauthenticated: "run `codex login`",
			call.ReasonUntrustedDir:    "trust the directory in codex, or run it in a git repository",
		},
	}
}

func codexArgs() []clispec.ArgRow {
	return slices.Concat([]clispec.ArgRow{
		{Args: []string{"exec"}, When: oneRun()},
		{Args: []string{"app-server"}, When: output(clispec.OutputLive)},
		{Args: []string{"--json"}, When: output(clispec.OutputStream)},
		{Args: []string{"--skip-git-repo-check"}, When: oneRun()},
		// Unless analytics are off, the process lingers for 5 s without a network. These are settings, not --disable:
		// a version only warns about an unknown setting.
		{Args: []string{"-c", "analytics.enabled=false"}},
	}, codexSandbox(), []clispec.ArgRow{
		// A rule of the user or the directory that allows a command also exempts it from the sandbox, and settings
		// can let a model decide on exemptions.
		{Args: []string{"--ignore-rules"}, When: oneRun(access(call.AccessNone, call.AccessRead))},
		{Args: []string{"-c", `approval_policy="never"`}, When: access(call.AccessNone, call.AccessRead)},
		{Args: []string{"-c", `approval_policy="never"`}, When: liveOnly(unless("ask", call.AccessWrite, call.AccessFull))},
		{Args: codexLean(), When: access(call.AccessNone)},
		// Version 0.134 knows neither setting, and fails to start with the second one, which it takes as the name of
		// an agent. The first version that knows them has not been determined.
		{
			Args: settingArgs([]string{"features.view_image=false", "agents.enabled=false"}),
			When: clispec.When{Access: []call.Access{call.AccessNone}, Since: "0.135.0"},
		},
		{Args: codexUntrusted(), When: unless("trust_dir", call.AccessRead, call.AccessWrite)},
		// The user's own settings may trust the directory.
		{Args: []string{"-c", `projects={{dir:json}={trust_level="untrusted"}}`}, When: clispec.When{
			Access: []call.Access{call.AccessRead, call.AccessWrite}, Set: []string{"dir"}, Unset: []string{"trust_dir"}}},
		{Args: []string{"-c", "model_instructions_file={system_file:json}"}, When: set("system_replace")},
		{Args: []string{"--model", "{model}"}, When: oneRun(set("model"))},
		{Args: []string{"-c", "model_reasoning_effort={effort:json}"}, When: set("effort")},
		{Args: []string{"--output-schema", "{schema_file}"}, When: oneRun(set("schema"))},
		// The CLI splits each value at its commas.
		{Args: []string{"--image={images}"}, When: oneRun(set("images"))},
		{Args: []string{"--add-dir={add_dirs}"}, Each: "add_dirs", When: oneRun(setFor("add_dirs", call.AccessWrite))},
		// With less access the CLI would ask before each call of a tool, and wait for ever.
		{Args: []string{"-c", "{mcp_toml}"}, Each: "mcp_toml", When: setFor("mcp_toml", call.AccessFull)},
	}, codexTools(), []clispec.ArgRow{
		// A resumed session would be stored in spite of the flag.
		{
			Args: []string{"--ephemeral"},
			When: oneRun(clispec.When{Set: []string{"no_session_persistence"}, Unset: []string{"session", "continue"}}),
		},
		extra(),
		{Args: []string{"resume", "{session}"}, When: oneRun(set("session"))},
		{Args: []string{"resume", "--last"}, When: oneRun(set("continue"))},
		{Args: []string{"-"}, When: oneRun(stdin())},
		{Args: []string{"--", "{prompt}"}, When: argv()},
	})
}

// codexSandbox determines what the tools may do.
func codexSandbox() []clispec.ArgRow {
	return []clispec.ArgRow{
		{Args: []string{"-c", `sandbox_mode="read-only"`}, When: access(call.AccessNone)},
		{Args: []string{"-c", `sandbox_mode="read-only"`}, When: unless("permission_mode", call.AccessRead)},
		{Args: []string{"-c", `sandbox_mode="workspace-write"`}, When: unless("permission_mode", call.AccessWrite)},
		{
			Args: []string{"--dangerously-bypass-approvals-and-sandbox"},
			When: oneRun(unless("permission_mode", call.AccessFull)),
		},
		{
			Args: []string{"-c", `sandbox_mode="danger-full-access"`},
			When: liveOnly(unless("permission_mode", call.AccessFull)),
		},
		{
			Args: []string{"-c", "sandbox_mode={permission_mode:json}"},
			When: setFor("permission_mode", call.AccessWrite, call.AccessFull),
		},
	}
}

func codexLines() []clispec.LineRule {
	return []clispec.LineRule{
		{
			Pattern: `already has an active writer`, Reason: call.ReasonBadSession, On: onStderr(),
			Hint: "another process is using this session",
		},
		{
			Pattern: `no rollout found for thread id|thread/resume failed`, Reason: call.ReasonBadSession, On: onStderr(),
			Hint: goneHint,
		},
		{
			Pattern: `error: unexpected argument|error: invalid value`, Reason: call.ReasonUnsupported, On: onStderr(),
			Hint: updateHint,
		},
		{
			Pattern: `Error loading config\.toml: (?P<message>.+)`, Reason: call.ReasonUnsupported, On: onStderr(),
			Hint: "the installed version does not take a setting: correct config.toml if it is the user's, else update it",
		},
		{Pattern: `Not inside a trusted directory`, Reason: call.ReasonUntrustedDir, On: onStderr()},
		{Pattern: `(?i)not supported when using Codex with a ChatGPT account`, Reason: call.ReasonBadModel},
		{Pattern: `responses_websocket: failed to connect`, Kind: call.EventStatus, On: onStderr()}, // continues over HTTP
		{
			Pattern: "Missing environment variable: `?(?P<variable>[A-Za-z_][A-Za-z0-9_]*)",
			Reason:  call.ReasonUnauthenticated,
		},
		// In text mode. A good run prints warnings too, such as that it has no metadata of a model.
		{Pattern: `^warning: `, Kind: call.EventStatus, On: onStderr()},
		// The last one has the reason of the failure. Lines of its log, which other failures put there, must not
		// decide.
		{Pattern: `\A(?s:.*\n)?ERROR: (?P<message>[^\n]+)`, On: onStderr()},
	}
}

// codexLean turns off what a plain completion does not need: tools, project
// documents and the notes about the machine.
func codexLean() []string {
	settings := []string{
		"features.shell_tool=false", "features.apps=false", "features.plugins=false", "features.goals=false",
		"features.multi_agent=false", "features.image_generation=false",
		`web_search="disabled"`, "project_doc_max_bytes=0", "project_root_markers=[]",
		"include_permissions_instructions=false", "include_environment_context=false", "include_apps_instructions=false",
		"include_collaboration_mode_instructions=false", "skills.include_instructions=false",
	}
	return settingArgs(settings)
}

// codexUntrusted hides the files in and above the directory from the model, and keeps git in the shell tool from
// running its programs.
func codexUntrusted() []string {
	settings := []string{"project_doc_max_bytes=0", "project_root_markers=[]"}
	for _, row := range quietGit() {
		settings = append(settings, fmt.Sprintf("shell_environment_policy.set.%s=%q", row.Name, row.Value))
	}
	return settingArgs(settings)
}

func settingArgs(settings []string) (args []string) {
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args
}

// codexEnv makes the git commands of codex itself fail, because git status runs the filters that .git/config names. A
// call without access needs no git. With more access, codexUntrusted sets a valid count in the shell tool.
func codexEnv() []clispec.EnvRow {
	return append([]clispec.EnvRow{
		{Name: "GIT_DIR", Value: "/dev/null", When: access(call.AccessNone)},
		{Name: codexToken, Value: "{host_token}", When: hostTools()},
		{Name: "GIT_CONFIG_COUNT", Value: "off", When: unless("trust_dir", call.AccessRead, call.AccessWrite)},
	}, traceEnv()...)
}

func codexEvents() []clispec.EventRule {
	const tools = "command_execution|file_change|mcp_tool_call|web_search|collab_tool_call|image_generation"
	return []clispec.EventRule{
		{Match: pairs("type", "thread.started"), Kind: call.EventSession, Set: pairs("session", "thread_id")},
		{Match: pairs("type", "turn.started"), Kind: call.EventStatus, Set: pairs("text", "=turn")},
		{
			Match: pairs("type", "item.completed", "item.type", "agent_message"), Kind: call.EventText, Last: true,
			Set: pairs("text", "item.text"),
		},
		{
			Match: pairs("type", "item.completed", "item.type", "reasoning"), Kind: call.EventThinking,
			Set: pairs("text", "item.text"),
		},
		{
			Match: pairs("type", "item.started", "item.type", tools), Kind: call.EventToolUse,
			Set: pairs("id", "item.id", "name", "item.type", "input", "item"),
		},
		{
			Match: pairs("type", "item.completed", "item.type", tools), Kind: call.EventToolResult,
			Set: pairs("id", "item.id", "text", "item.aggregated_output ?? item.result"),
		},
		// An error that is an item is only a warning.
		{
			Match: pairs("type", "item.completed", "item.type", "error"), Kind: call.EventWarning,
			Set: pairs("message", "item.message"),
		},
		{
			Match: pairs("type", "error", "message", `Reconnecting\.\.\..*`), Kind: call.EventRetry,
			Set: pairs("message", "message"), Last: true,
		},
		{Match: pairs("type", "error"), Kind: call.EventError, Set: pairs("message", "message")},
		{Match: pairs("type", "turn.failed"), Kind: call.EventError, Terminal: true, Set: pairs("message", "error.message")},
		{Match: pairs("type", "turn.completed"), Kind: call.EventResult, Terminal: true, Set: map[string]string{
			"input_tokens": "usage.input_tokens", "output_tokens": "usage.output_tokens",
			"reasoning_tokens":  "usage.reasoning_output_tokens",
			"cache_read_tokens": "usage.cached_input_tokens", "cache_write_tokens": "usage.cache_write_input_tokens",
		}},
		// Only in the file of the session.
		{
			Match: pairs("type", "event_msg", "payload.type", "token_count", "payload.rate_limits.limit_id", "(codex)?",
				"@.value.used_percent", ".+"),
			Each: "payload.rate_limits|@members", Kind: call.EventLimit, Set: pairs(
				"window", "@.key", "window_used_percent", "@.value.used_percent", "window_minutes", "@.value.window_minutes",
				"window_reset_s", "@.value.resets_at", "window_observed", "timestamp",
			),
		},
	}
}
