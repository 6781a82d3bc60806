package specs

import (
	"cmp"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
)

// OpenCode is the opencode CLI.
func OpenCode() clispec.Spec {
	o := openCode{
		name: "opencode", write: `"bash":"deny","webfetch":"deny","edit":"allow","external_directory":"deny"`,
		config: []string{"opencode.json", "opencode.jsonc", "config.json"},
	}
	s := o.spec()
	s.ProviderSlug, s.CheckedWith, s.Packages = "opencode", "1.18.33", []string{"opencode-ai"}
	s.Hints[call.ReasonNotInstalled] = "npm install -g opencode-ai"
	// A part of the CLI imports their plugins, whatever is turned off.
	s.FolderFiles = []string{"./.opencode", "./opencode.json", "./opencode.jsonc"}
	o.offerTools(&s)
	return s
}

// openCode has the differences between opencode and its forks.
type openCode struct {
	name   string   // of the program and its directories; in capitals, the prefix of its variables
	lean   string   // the agent of a call without access, if it is not clichain's
	write  string   // permissions at access level write
	config []string // names of the configuration files
}

func (o openCode) spec() clispec.Spec {
	return clispec.Spec{
		Name: o.name, Binary: o.name,
		DefaultModel:  o.name + "-default",
		PromptStyle:   clispec.RunSubcommand,
		SystemDefault: defaultSystem,
		// Not argv: a prompt with a blank would reach the model in quotes.
		Transports: []clispec.Transport{clispec.TransportStdin},
		Outputs:    []clispec.OutputMode{clispec.OutputStream, clispec.OutputText},
		Files:      []clispec.FileRow{{Field: "system", Name: "system.md", Content: "{system}", When: set("system_replace")}},
		Args:       o.args(), Servers: o.servers(),
		Env: append(o.configuration(),
			// A project's configuration may start programs.
			clispec.EnvRow{Name: o.variable("DISABLE_PROJECT_CONFIG"), Value: "1", When: unset("trust_dir")},
			// Skills of other CLIs, which the CLI also finds in the directory.
			clispec.EnvRow{Name: o.variable("DISABLE_EXTERNAL_SKILLS"), Value: "1", When: unset("trust_dir")},
			// The CLI still imports the plugins of parent directories, unless it works in its settings directory. It
			// believes so if that directory has no name.
			clispec.EnvRow{Name: o.variable("CONFIG_DIR"), Value: "", When: access(call.AccessNone)},
			clispec.EnvRow{Name: o.variable("DISABLE_CLAUDE_CODE_PROMPT"), Value: "1", When: access(call.AccessNone)},
			clispec.EnvRow{
				Name: o.variable("DB"), Value: ":memory:",
				When: clispec.When{Set: []string{"no_session_persistence"}, Unset: []string{"session", "continue"}},
			},
		),
		PassEnv:   []string{o.variable("*")},
		PassEnvIf: openCodePass(o.configFiles()...),
		DropEnv:   []string{o.variable("CONFIG_CONTENT")},
		NestedEnv: []string{o.variable("PID"), o.variable("PROCESS_ROLE"), o.variable("RUN_ID")},
		Models: clispec.ModelRules{
			Accept: []string{`[^/\s]+/\S+`},
			List:   []clispec.ListRule{{Args: []string{"models", "--pure"}}}, // it runs plugins too
		},
		Login: openCodeLogin(o.name), Confine: o.paths(), Live: openCodeLive(),
		// The CLI hangs when it resumes a session in another directory.
		Sessions: clispec.SessionRules{ID: `ses_[A-Za-z0-9]+`, DirBound: true},
		Events:   openCodeEvents(), ToolEvents: clispec.ToolsAtEnd,
		Text:  clispec.TextRule{AnswerOnly: true},
		Lines: o.lines(),
		Hints: map[call.Reason]string{
			call.ReasonUnauthenticated: "run `" + o.name + " auth login`, or ask for a model of the vendor whose key is set",
		},
	}
}

// variable returns the full name of one of the CLI's environment variables.
func (o openCode) variable(name string) string { return strings.ToUpper(o.name) + "_" + name }

// configFiles returns the possible places of the user's configuration.
func (o openCode) configFiles() (paths []string) {
	for _, file := range o.config {
		paths = append(paths, "${XDG_CONFIG_HOME:-~/.config}/"+o.name+"/"+file, "${"+o.variable("CONFIG_DIR")+"}/"+file)
	}
	return append(paths, "${"+o.variable("CONFIG")+"}")
}

// ownAgent is a name for which no project can have settings, because it is random.
const ownAgent = "clichain@{temp}"

func (o openCode) args() []clispec.ArgRow {
	return []clispec.ArgRow{
		{Args: []string{"run"}, When: oneRun()},
		{Args: []string{"acp"}, When: output(clispec.OutputLive)},
		{Args: []string{"--format", "json", "--thinking"}, When: output(clispec.OutputStream)},
		// The CLI retries for ever, and reports that only in its log.
		{Args: []string{"--print-logs", "--log-level", "ERROR"}},
		// --pure turns external plugins off. A title saves the request that would ask the model for one.
		{Args: []string{"--pure"}},
		{Args: []string{"--title", "clichain"}, When: oneRun()},
		{Args: []string{"--agent", cmp.Or(o.lean, ownAgent)}, When: oneRun(access(call.AccessNone))},
		{Args: []string{"--agent", ownAgent}, When: oneRun(access(call.AccessRead, call.AccessWrite))},
		{Args: []string{"--agent", ownAgent}, When: oneRun(setFor("system_replace", call.AccessFull))},
		{Args: []string{"-m", "{model}"}, When: oneRun(set("model"))},
		{Args: []string{"-s", "{session}"}, When: oneRun(set("session"))},
		{Args: []string{"-c"}, When: oneRun(set("continue"))},
		{Args: []string{"--file={images}"}, Each: "images", When: oneRun(set("images"))},
		extra(),
	}
}

const openCodePrompt = `"prompt":"{file:{system_file:text}}"`

// openCodeAgent returns the setting of clichain's agent. In its live mode the CLI asks a model for a title of the first
// prompt.
func openCodeAgent(parts ...string) string {
	return `"agent":{"clichain@{temp:text}":{"mode":"primary",` + strings.Join(parts, ",") + `},"title":{"disable":true}}`
}

// row sets the configuration at an access level.
func (o openCode) row(a call.Access, when clispec.When, parts ...string) clispec.EnvRow {
	when.Access = []call.Access{a}
	return clispec.EnvRow{Name: o.variable("CONFIG_CONTENT"), Value: "{" + strings.Join(parts, ",") + "}", When: when}
}

// inFolder sets the configuration in a directory of the user. An untrusted directory may contain the programs of
// language servers and formatters that a user has turned on.
func (o openCode) inFolder(a call.Access, when clispec.When, parts ...string) []clispec.EnvRow {
	trusted := when
	trusted.Set = append(slices.Clone(when.Set), "trust_dir")
	when.Unset = append(slices.Clone(when.Unset), "trust_dir")
	off := append(slices.Clone(parts), `"lsp":false,"formatter":false`)
	return []clispec.EnvRow{o.row(a, trusted, parts...), o.row(a, when, off...)}
}

func (o openCode) writing() string { return `"permission":{` + o.write + `}` }

const (
	openCodeNone    = `"permission":{"*":"deny"}`
	openCodeReading = `"permission":{"*":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow"}`
	openCodeFull    = `"permission":"allow"`
)

// configuration returns the rows for each access level: the permissions, clichain's agent, and the caller's MCP
// servers. The permissions appear twice: for the agent, which no project can override, and for the agents that it may
// start.
func (o openCode) configuration() []clispec.EnvRow {
	const servers, noTools = `"mcp":{mcp_local}`, `"tools":{"*":false}`
	// The last member has no comma after it, and names no server of the user.
	const noServers = `"mcp":{{own_servers_off}"` + hostName + `":{"enabled":false}}`
	const prompt, none, read, full = openCodePrompt, openCodeNone, openCodeReading, openCodeFull
	agent, lean, write := openCodeAgent, openCodeAgent, o.writing()
	if o.lean != "" {
		lean = func(parts ...string) string {
			return `"agent":{"` + o.lean + `":{"mode":"primary","disable":false,` + strings.Join(parts, ",") + `}}`
		}
	}
	replace, mcp, both := []string{"system_replace"}, []string{"mcp_config"}, []string{"system_replace", "mcp_config"}
	own, ownAndPrompt := []string{"own_servers"}, []string{"own_servers", "system_replace"}
	return slices.Concat(
		[]clispec.EnvRow{
			o.row(call.AccessNone, clispec.When{Set: replace}, lean(prompt, noTools), none),
			o.row(call.AccessNone, clispec.When{Unset: replace}, lean(noTools), none),
			o.row(call.AccessNone, clispec.When{Set: ownAndPrompt}, lean(prompt, noTools), none, noServers),
			o.row(call.AccessNone, clispec.When{Set: own, Unset: replace}, lean(noTools), none, noServers),
		},
		o.inFolder(call.AccessRead, clispec.When{Set: replace}, agent(prompt, read), read),
		o.inFolder(call.AccessRead, clispec.When{Unset: replace}, agent(read), read),
		o.inFolder(call.AccessWrite, clispec.When{Set: both}, agent(prompt, write), write, servers),
		o.inFolder(call.AccessWrite, clispec.When{Set: replace, Unset: mcp}, agent(prompt, write), write),
		o.inFolder(call.AccessWrite, clispec.When{Set: mcp, Unset: replace}, agent(write), write, servers),
		o.inFolder(call.AccessWrite, clispec.When{Unset: both}, agent(write), write),
		[]clispec.EnvRow{
			o.row(call.AccessFull, clispec.When{Set: both}, agent(prompt), full, servers),
			o.row(call.AccessFull, clispec.When{Set: replace, Unset: mcp}, agent(prompt), full),
			o.row(call.AccessFull, clispec.When{Set: mcp, Unset: replace}, full, servers),
			o.row(call.AccessFull, clispec.When{Unset: both}, full),
		},
	)
}

// streamError is a line of the log about a request to the model that failed.
const streamError = `message="stream error"(?:[^"]* session\.id=(?P<session>ses_[A-Za-z0-9]+))?` +
	`.*error\.error="(?P<message>[^"]*)"`

func (o openCode) lines() []clispec.LineRule {
	return []clispec.LineRule{
		// The session would continue as the default agent, with all tools.
		{
			Pattern: `agent "(?:clichain.*|` + o.lean + `)" not found`, Reason: call.ReasonUnsupported, On: onStderr(),
			Fatal: true, Hint: updateHint,
		},
		{Pattern: streamError, Kind: call.EventRetry, On: onStderr()},
		{Pattern: streamError, Kind: call.EventRetry, On: onStderr(), Reason: call.ReasonServerError},
		{Pattern: `Session not found`, Reason: call.ReasonBadSession, On: onStderr(), Hint: goneHint},
		{
			Pattern: `(?s)(?:^\s*|\n)` + o.name + ` (?:run|acp)\b.*Options:`, Reason: call.ReasonUnsupported, On: onStderr(),
			Hint: updateHint,
		},
		{Pattern: `(?P<message>Model not found: [^\s"\\)]+(?: Did you mean: [^\s"\\)]+)?)`, Reason: call.ReasonBadModel},
		{Pattern: `(?i)ProviderModelNotFoundError|Model not found`, Reason: call.ReasonBadModel},
		{Pattern: `(?i)ProviderAuthError`, Reason: call.ReasonUnauthenticated},
		// The last line in text mode. The log has the same text before it.
		{Pattern: `(?m)^(?:\x1b\[[\d;]*m)*Error: (?:\x1b\[[\d;]*m)*(?P<message>.+)`, On: onStderr()},
		{Pattern: `MessageOutputLengthError|ContextOverflowError`, Reason: call.ReasonContextOverflow},
	}
}

func openCodeEvents() []clispec.EventRule {
	return []clispec.EventRule{
		{Match: pairs("type", "step_start"), Kind: call.EventStatus, Set: pairs("session", "sessionID", "text", "=step")},
		{Match: pairs("type", "text"), Kind: call.EventText, Set: pairs("session", "sessionID", "text", "part.text")},
		{Match: pairs("type", "reasoning"), Kind: call.EventThinking, Set: pairs("text", "part.text")},
		// One event has both the call of a tool and its result.
		{
			Match: pairs("type", "tool_use"), Kind: call.EventToolUse,
			Set: pairs("id", "part.callID", "name", "part.tool", "input", "part.state.input"),
		},
		{
			Match: pairs("type", "tool_use"), Kind: call.EventToolResult,
			Set: pairs("id", "part.callID", "text", "part.state.output ?? part.state.error"),
		},
		{Match: pairs("type", "step_finish"), Kind: call.EventUsage, Set: map[string]string{
			"input_tokens": "part.tokens.input", "output_tokens": "part.tokens.output",
			"reasoning_tokens":  "part.tokens.reasoning",
			"cache_read_tokens": "part.tokens.cache.read", "cache_write_tokens": "part.tokens.cache.write", "turns": "=1",
		}},
		// The CLI reports 0 if it does not know the price.
		{
			Match: pairs("type", "step_finish", "part.cost", ".*[1-9].*"), Kind: call.EventUsage,
			Set: pairs("cost_usd", "part.cost"),
		},
		{
			Match: pairs("type", "step_finish", "part.reason", "stop|content-filter|other|unknown"), Kind: call.EventResult,
			Terminal: true, Set: pairs("session", "sessionID"),
		},
		{Match: pairs("type", "step_finish", "part.reason", "length"), Kind: call.EventResult, Terminal: true,
			Set: pairs("session", "sessionID", "failed", "=true", "partial", "=true",
				"message", "=the model's output limit was reached")},
		{Match: pairs("type", "error"), Kind: call.EventError, Set: map[string]string{
			"session": "sessionID", "code": "error.name", "message": "error.data.message ?? error.message",
			"status":  "error.data.statusCode",
			"delay_s": "error.data.responseHeaders.retry-after",
		}},
	}
}

// openCodeLive: a session begins with the agent that has all tools, and with the user's model. If that is not known,
// the CLI silently takes a public one, so a request must name its model.
func openCodeLive() clispec.LiveRules {
	r := acpLive()
	r.When = set("model")
	r.Guards = []clispec.GuardRule{{Pattern: "^[\\s\ufeff]*/", Prefix: "\u200b"}} // the CLI trims the prompt first
	option := func(id, value string, when clispec.When) clispec.LiveMessage {
		params := `{"sessionId":{context:json},"configId":"` + id + `","value":` + value + `}`
		return clispec.LiveMessage{Method: "session/set_config_option", Params: params, When: when}
	}
	const agent = `"clichain@{temp:text}"`
	r.Opened = []clispec.LiveMessage{
		option("mode", agent, access(call.AccessNone, call.AccessRead, call.AccessWrite)),
		option("mode", agent, setFor("system_replace", call.AccessFull)),
		option("model", "{model:json}", clispec.When{Set: []string{"model"}}),
	}
	return r
}
