package specs

import (
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// Pi is the pi coding agent. It has no permissions: the tools that it gets determine what it can do.
func Pi() clispec.Spec {
	return clispec.Spec{
		Name: "pi", Binary: "pi", Packages: []string{"@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"},
		ProviderSlug: "pi-cli", DefaultModel: "pi-default",
		SystemDefault: defaultSystem, CheckedWith: "0.87.1",
		// Not argv: the CLI has no "--", and attaches a file if the prompt begins with "@".
		Transports: []clispec.Transport{clispec.TransportStdin},
		Outputs:    []clispec.OutputMode{clispec.OutputStream, clispec.OutputText},
		// The name of a template, a skill or a command of an extension. The CLI trims the prompt first, but not this
		// character, which the model does not see.
		Guards: []clispec.GuardRule{{Pattern: "^[\\s\ufeff]*/", Prefix: "\u200b"}},
		// The CLI obeys these files whatever is turned off: settings name programs and packages that it runs and
		// installs. It renames commands, even with read access.
		FolderFiles: []string{".pi/settings.json", ".pi/extensions", ".pi/SYSTEM.md", ".pi/APPEND_SYSTEM.md", ".pi/commands"},
		Files: []clispec.FileRow{
			{Field: "system", Name: "system.md", Content: "{system_replace}", When: set("system_replace")},
			{Field: "append", Name: "append.md", Content: "{system_append}", When: set("system_append")},
			{Field: "brief", Name: "brief.js", Content: piBrief, When: piRepeats()},
			{Field: "confine", Name: "confine.js", Content: piConfine, When: access(call.AccessWrite)},
		},
		Args:      piArgs(),
		ReadTools: piReadTools(), AgentTools: piWriteTools(),
		Env: []clispec.EnvRow{
			// Otherwise the CLI installs missing packages from the user's settings.
			{Name: "PI_OFFLINE", Value: "1", When: access(call.AccessNone)},
		},
		PassEnv:   []string{"PI_*"},
		PassEnvIf: piPass(),
		DropEnv:   []string{"PI_STARTUP_BENCHMARK", "PI_TIMING"},
		NestedEnv: []string{"PI_CODING_AGENT"},
		Models:    clispec.ModelRules{Accept: []string{`[^/\s]+/\S+`}},
		Login:     piLogin(), Confine: piPaths(),
		Sessions: clispec.SessionRules{ID: uuid, DirBound: true},
		Events:   piEvents(), ToolEvents: clispec.ToolsAtStart,
		Text:  clispec.TextRule{AnswerOnly: true},
		Lines: piLines(),
		Hints: map[call.Reason]string{
			call.ReasonNotInstalled:    "npm install -g @earendil-works/pi-coding-agent",
			call.ReasonUnauthenticated: "run `pi` and `/login` there, or ask for a model of the vendor whose key is set",
		},
	}
}

func piReadTools() []string { return []string{"read", "grep", "find", "ls"} }

func piWriteTools() []string { return append(piReadTools(), "edit", "write") }

func piArgs() []clispec.ArgRow {
	tools := func(list []string) []string { return []string{"--tools", strings.Join(list, ",")} }
	return []clispec.ArgRow{
		{Args: []string{"--mode", "json"}, When: output(clispec.OutputStream)},
		{Args: []string{"--extension", "{brief_file}"}, When: piRepeats()},
		{Args: []string{"--mode", "text"}, When: output(clispec.OutputText)},
		{Args: []string{"--no-tools", "--no-extensions"}, When: access(call.AccessNone)},
		// The user's own are turned off as well, because the CLI does not distinguish them.
		{Args: []string{"--no-context-files", "--no-skills"}, When: unset("trust_dir")},
		{Args: []string{"--approve"}, When: clispec.When{Set: []string{"trust_dir"}, Since: "0.79.0"}},
		{Args: []string{"--no-approve"}, When: clispec.When{Unset: []string{"trust_dir"}, Since: "0.79.0"}},
		// No prompt names one. At full access no other restriction applies.
		{
			Args: []string{"--no-prompt-templates"},
			When: access(call.AccessNone, call.AccessRead, call.AccessWrite, call.AccessFull),
		},
		{Args: tools(piReadTools()), When: unless("allowed_tools", call.AccessRead)},
		{Args: tools(piWriteTools()), When: unless("allowed_tools", call.AccessWrite)},
		{Args: []string{"--tools", "{allowed_tools}"}, When: setFor("allowed_tools", agentAccess()...)},
		{Args: []string{"--extension", "{confine_file}"}, When: access(call.AccessWrite)},
		{Args: []string{"--system-prompt", "{system_file}"}, When: set("system_replace")},
		{Args: []string{"--append-system-prompt", "{append_file}"}, When: set("system_append")},
		// Otherwise the CLI adds the user's text for all sessions.
		{Args: []string{"--append-system-prompt", ""}, When: unless("system_append", call.AccessNone)},
		{Args: []string{"--model", "{model}"}, When: set("model")},
		{Args: []string{"--thinking", "{effort}"}, When: set("effort")},
		{Args: []string{"--session", "{session}"}, When: set("session")},
		{Args: []string{"--continue"}, When: set("continue")},
		// With the flag the CLI would not resume a session.
		{
			Args: []string{"--no-session"},
			When: clispec.When{Set: []string{"no_session_persistence"}, Unset: []string{"session", "continue"}},
		},
		{Args: []string{"@{images}"}, Each: "images", When: set("images")},
		extra(),
	}
}

// piRepeats is the condition for versions that repeat the whole answer so far, twice, with each delta. All versions
// under the old package name do that.
func piRepeats() clispec.When {
	return clispec.When{Output: []clispec.OutputMode{clispec.OutputStream}, Before: "0.84.0"}
}

// piBrief is an extension that removes the repetitions, because a long answer would become a gigabyte of output.
const piBrief = `export default (pi) => {
  pi.on("message_update", ({ message, assistantMessageEvent }) => {
    message.content = [];
    delete assistantMessageEvent.partial;
  });
};
`

// piConfine is another extension. The tools of pi write anywhere; with it they write only in the working directory,
// and through no link that leaves it. An error blocks the tool.
const piConfine = `import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";

const real = (path) => lstatSync(path, { throwIfNoEntry: false })
  ? realpathSync(path)
  : join(real(dirname(path)), basename(path));

export default (pi) => {
  pi.on("tool_call", ({ toolName, input }, { cwd }) => {
    if (toolName !== "write" && toolName !== "edit") return;
    // pi makes other paths of these.
    const path = /^[~@]|[^\S ]/.test(input.path) ? "" : real(resolve(cwd, input.path));
    if (!path.startsWith(real(cwd) + sep)) {
      return { block: true, reason: "Only files in the working directory may be changed: name one by its plain path." };
    }
    input.path = path;
  });
};
`

// piEvents: each message ends in one event with its whole content, and so does the run. After an error the CLI may
// retry, and begins the message again.
func piEvents() []clispec.EventRule {
	const last = "messages|@reverse|0."
	update := func(kind string) map[string]string {
		return pairs("type", "message_update", "assistantMessageEvent.type", kind)
	}
	message := func(more ...string) map[string]string {
		return pairs(
			append([]string{"type", "message_end", "message.role", "assistant", "message.stopReason", "stop|length|toolUse"},
				more...)...,
		)
	}
	return []clispec.EventRule{
		{Match: pairs("type", "session"), Kind: call.EventSession, Set: pairs("session", "id")},
		{Match: pairs("type", "message_end", "message.role", "user"), Kind: call.EventStatus, Set: pairs("text", "=asked")},
		{Match: pairs("type", "turn_start"), Kind: call.EventStatus, Set: pairs("text", "=turn")},
		{
			Match: pairs("type", "message_start", "message.role", "assistant"), Kind: call.EventSession,
			Set: pairs("model", "message.model"),
		},
		{Match: update("text_delta"), Kind: call.EventDelta, Set: pairs("text", "assistantMessageEvent.delta")},
		{Match: update("thinking_delta"), Kind: call.EventThinking, Set: pairs("text", "assistantMessageEvent.delta")},
		{Match: message("@.type", "text"), Each: "message.content", Kind: call.EventText, Set: pairs("text", "@.text")},
		{Match: message(), Kind: call.EventUsage, Set: map[string]string{
			"input_tokens": "message.usage.input", "output_tokens": "message.usage.output", "turns": "=1",
			"cache_read_tokens": "message.usage.cacheRead", "cache_write_tokens": "message.usage.cacheWrite",
		}},
		// The CLI reports 0 if it does not know the price.
		{
			Match: message("message.usage.cost.total", ".*[1-9].*"), Kind: call.EventUsage,
			Set: pairs("cost_usd", "message.usage.cost.total"),
		},
		{
			Match: pairs("type", "tool_execution_start"), Kind: call.EventToolUse,
			Set: pairs("id", "toolCallId", "name", "toolName", "input", "args"),
		},
		{
			Match: pairs("type", "tool_execution_end"), Kind: call.EventToolResult,
			Set: pairs("id", "toolCallId", "text", "result.content.0.text", "failed", "isError"),
		},
		{Match: pairs("type", "auto_retry_start"), Kind: call.EventReset},
		{
			Match: pairs("type", "auto_retry_start"), Kind: call.EventRetry,
			Set: pairs("try", "attempt", "delay_ms", "delayMs", "message", "errorMessage"),
		},
		{
			Match: pairs("type", "compaction_end", "aborted", "false"), Kind: call.EventCompact,
			Set: pairs("trigger", "reason", "pre_tokens", "result.tokensBefore"),
		},
		// After this error the CLI may retry.
		{
			Match: pairs("type", "agent_end", last+"stopReason", "error|aborted"), Kind: call.EventError,
			Set: pairs("message", last+"errorMessage"),
		},
		{Match: pairs("type", "agent_end", last+"stopReason", "length"), Kind: call.EventResult, Terminal: true,
			Set: pairs("failed", "=true", "partial", "=true", "message", "=the model's output limit was reached")},
		{Match: pairs("type", "agent_end", last+"stopReason", "stop|toolUse|"), Kind: call.EventResult, Terminal: true},
	}
}

func piLines() []clispec.LineRule {
	return []clispec.LineRule{
		// The CLI would ask, and take the prompt as the reply.
		{
			Pattern: `Session found in different project`, Reason: call.ReasonBadSession, On: onStderr(), Fatal: true,
			Hint: goneHint,
		},
		{
			Pattern: `No session found matching|Stored session working directory does not exist`, Reason: call.ReasonBadSession,
			On: onStderr(), Hint: goneHint,
		},
		// The CLI would continue without it.
		{Pattern: `Invalid thinking level "[^"]*"`, Reason: call.ReasonUnsupported, On: onStderr(), Fatal: true},
		{Pattern: `Unknown options?:`, Reason: call.ReasonUnsupported, On: onStderr(), Hint: updateHint},
		{
			Pattern: `(?P<message>Model "[^"]*" not found)\. Use|Unknown provider "`, Reason: call.ReasonBadModel,
			On: onStderr(),
		},
		{
			Pattern: `(?P<message>No (?:models available|model selected|API key found[^.\n]*))`,
			Reason:  call.ReasonUnauthenticated, On: onStderr(),
		},
		{Pattern: `(?m)^(?P<status>[45]\d\d):? (?P<message>.+)`}, // version 0.73 writes no colon
		{Pattern: `^terminated$`, Reason: call.ReasonNetwork},    // the stream broke off
	}
}
