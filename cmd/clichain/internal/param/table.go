package param

import (
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/settings"
)

// Table has every flag about a request and about the backends, in the order of the help texts. A command has every flag
// of the table except the flags whose Without names the command.
var Table = slices.Concat(requestFlags, limitFlags, backendFlags)

// requestFlags are the flags about the request.
var requestFlags = []Flag{
	{Name: "prompt-file", Group: GroupRequest, Help: "read the prompt from `file` and append it to PROMPT",
		Without: ofPrompt, define: text(func(v *Values) *string { return &v.PromptFile })},
	{Name: "no-stdin", Group: GroupRequest, Help: "do not read stdin", Without: ofPrompt,
		define: truth(func(v *Values) *bool { return &v.NoStdin })},
	{Name: "system", Group: GroupRequest, Help: "system prompt `text`", Without: ofRequest,
		define: text(func(v *Values) *string { return &v.System })},
	{Name: "system-file", Group: GroupRequest, Help: "read the system prompt from `file`", Without: ofRequest,
		define: text(func(v *Values) *string { return &v.SystemFile })},
	{Name: "system-mode", Group: GroupRequest,
		Help:    "`mode`: append or replace the system prompt of the CLI (default replace, with --access append)",
		Without: ofLine, define: text(func(v *Values) *string { return (*string)(&v.options().SystemMode) })},
	{Name: "append-system", Group: GroupRequest, Help: "append `text` to the system prompt", Without: ofLine,
		define: text(func(v *Values) *string { return &v.options().AppendSystem })},
	{Name: "model", Group: GroupRequest, Help: "`model`, backend/model, or a backend", Without: ofRequest,
		define: text(func(v *Values) *string { return &v.Request.Model })},
	{Name: "fallback-model", Group: GroupRequest, Help: "`model` that the CLI uses when the first one is overloaded",
		Without: ofLine, define: text(func(v *Values) *string { return &v.options().FallbackModel })},
	{Name: "effort", Group: GroupRequest, Help: "`level`: reasoning effort that the CLI accepts", Without: ofRequest,
		define: text(func(v *Values) *string { return &v.options().Effort })},
	{Name: "schema", Group: GroupRequest, Help: "`file`: JSON Schema for the answer, or the JSON itself",
		Without: map[string]string{Serve: inRequest, Worker: inJob, Work: "the result is a patch"}, define: text(func(v *Values) *string { return &v.Schema })},
	{Name: "image", Group: GroupRequest, Help: "attach the image in `file` (repeatable)", Field: "images",
		Without: ofLine, define: each(func(v *Values) *[]string { return &v.options().Images })},
	{Name: "access", Group: GroupRequest,
		Help:    "`level`: permissions of the agent: none, read, write or full (default none)",
		Without: map[string]string{Serve: inRequest, Worker: inJob, Work: "the agent may write to its copy"}, define: parsed(func(v *Values) *clichain.Access { return &v.Request.Access }, Access)},
	{Name: "dir", Group: GroupRequest, Help: "working `directory` (default .); needs --access",
		HelpOf:  map[string]string{Work: "`directory` that the agent gets a copy of (default .)"},
		Without: ofRequest,
		define:  text(func(v *Values) *string { return &v.Request.Dir })},
	{Name: "add-dir", Group: GroupRequest, Help: "additional `directory` for the agent (repeatable)",
		Field: "add_dirs", Without: map[string]string{
			Serve: inRequest, Worker: inJob, Batch: inOptions, Work: "the agent has a copy of one directory",
		}, define: each(func(v *Values) *[]string { return &v.options().AddDirs })},
	{Name: "allow-tool", Group: GroupRequest, Help: "allow the agent a `tool`, in the syntax of the CLI (repeatable)",
		Field: "allowed_tools", Without: ofRequest,
		define: list(func(v *Values) *[]string { return &v.options().AllowedTools })},
	{Name: "deny-tool", Group: GroupRequest, Help: "deny the agent a `tool`, in the syntax of the CLI (repeatable)",
		Field: "disallowed_tools", Without: ofRequest,
		define: list(func(v *Values) *[]string { return &v.options().DisallowedTools })},
	{Name: "permission-mode", Group: GroupRequest, Help: "permission `mode`, in the syntax of the CLI",
		Without: ofLine, define: text(func(v *Values) *string { return &v.options().PermissionMode })},
	{Name: "mcp-config", Group: GroupRequest, Help: "`file`: MCP servers as JSON, or the JSON itself (repeatable)",
		Without: ofLine, define: each(func(v *Values) *[]string { return &v.MCP })},
	{Name: "strict-mcp", Group: GroupRequest, Help: "use only the MCP servers of --mcp-config", Without: ofLine,
		define: truth(func(v *Values) *bool { return &v.options().StrictMCP })},
	{Name: "agents", Group: GroupRequest, Help: "read the subagents from a JSON `file`", Without: ofLine,
		define: text(func(v *Values) *string { return &v.Agents })},
	{Name: "session", Group: GroupRequest, Help: "continue a `session` of an earlier response, or backend:id",
		Without: map[string]string{Batch: conversation, Serve: inRequest, Worker: inJob, Work: newSession},
		define:  text(func(v *Values) *string { return &v.Request.Session })},
	{Name: "continue", Group: GroupRequest, Help: "continue the newest session of the working directory",
		Without: map[string]string{
			Batch: conversation, Submit: "another session may be the newest when the job runs", Serve: inRequest, Worker: inJob,
			Work: newSession,
		},
		define: truth(func(v *Values) *bool { return &v.options().Continue })},
	{Name: "session-id", Group: GroupRequest, Help: "`id` of the new session, if the CLI accepts one",
		Without: map[string]string{
			Batch: conversation, Submit: "a job may run twice, and the first run takes the id", Serve: inRequest, Worker: inJob,
			Work: newSession,
		},
		define: text(func(v *Values) *string { return &v.options().SessionID })},
	{Name: "no-session", Group: GroupRequest, Help: "do not store the session", Field: "no_session_persistence",
		Without: map[string]string{Serve: inRequest, Worker: inJob, Batch: inOptions, Work: newSession}, define: truth(func(v *Values) *bool { return &v.options().NoSessionPersistence })},
	{Name: "env", Group: GroupRequest,
		Help: "`name=value`: set an environment variable of the CLI; use --pass-env for secrets",
		HelpOf: map[string]string{
			Submit: "`name=value`: set an environment variable of the CLI; the queue stores the value",
		},
		Without: map[string]string{Batch: "a line cannot set an environment variable", Serve: inRequest, Worker: inJob},
		define:  setter((*Values).setEnv)},
	{Name: "extra", Group: GroupRequest, Help: "`backend=argument`: raw argument for one CLI (repeatable)",
		Without: ofLine, define: setter((*Values).addExtra)},
}

// limitFlags are the flags that limit a request.
var limitFlags = []Flag{
	{Name: "timeout", Group: GroupLimits, Without: ofBackend,
		Help:   "`duration`: limit of each backend (default " + clichain.DefaultTimeout.String() + ")",
		define: duration(func(v *Values) *time.Duration { return &v.Config.Timeout })},
	{Name: "idle-timeout", Group: GroupLimits,
		Help:    "`duration`: limit of the time without output of a CLI (default none, with --agent 3m)",
		Without: map[string]string{Batch: timeoutOnly, Submit: workers, Serve: timeoutOnly, Worker: timeoutOnly},
		define:  duration(func(v *Values) *time.Duration { return &v.Config.IdleTimeout })},
	{Name: "budget", Group: GroupLimits, Help: "`duration`: limit of all backends together (default none)",
		HelpOf: map[string]string{
			Serve:  "`duration`: limit of all backends of an answer together (default none)",
			Worker: "`duration`: limit of all backends of a job together (default none)",
		},
		Without: map[string]string{Batch: "its --budget is for all lines together", Submit: workers},
		define:  duration(func(v *Values) *time.Duration { return &v.Budget })},
	{Name: "agent", Group: GroupLimits,
		Help:    "use the defaults for agents: 10 minutes, 10 turns, file tools; needs --access",
		HelpOf:  map[string]string{Worker: "use the defaults for agents: 10 minutes, 10 turns, file tools"},
		Without: map[string]string{Submit: workers, Serve: noAccess, Work: "it is set"}, define: truth(func(v *Values) *bool { return &v.Config.Agent })},
	{Name: "max-turns", Group: GroupLimits, Help: "`number`: limit of the agent's turns (default none, with --agent 10)",
		Without: ofRequest, define: parsed(func(v *Values) *int { return &v.options().MaxTurns }, Count)},
	{Name: "max-budget-usd", Group: GroupLimits, Help: "`amount`: limit of the cost in US dollars (default none)",
		Without: ofRequest, define: parsed(func(v *Values) *float64 { return &v.options().MaxBudgetUSD }, Dollars)},
}

// backendFlags are the flags about the backends.
var backendFlags = []Flag{
	{Name: "only", Group: GroupBackends, Help: "`names`: backends to try, in this order, separated by commas",
		Without: ofBackend, define: parsed(func(v *Values) *[]string { return &v.Only }, Names)},
	{Name: "trust-dir", Group: GroupBackends,
		Help:    "let the CLI load settings, hooks and instructions of the working directory",
		Without: ofAgent, define: truth(func(v *Values) *bool { return &v.Config.TrustDir })},
	{Name: "billing", Group: GroupBackends,
		Help:    "`billing`: subscription, api_key or any; skip backends that would bill otherwise (default any)",
		Without: ofBackend, define: parsed(func(v *Values) *settings.Payer { return &v.Billing }, Payer)},
	{Name: "confine", Group: GroupBackends,
		Help:    "`mode`: let the kernel enforce --access: auto, required or off (default auto)",
		Without: ofBackend,
		define:  parsed(func(v *Values) *call.Confinement { return &v.Config.Confine }, OneOf(Confinements...))},
	{Name: "read-path", Group: GroupBackends, Help: "`file` or directory that a confined CLI may read (repeatable)",
		Without: ofBackend, define: each(func(v *Values) *[]string { return &v.Config.ReadPaths })},
	{Name: "write-path", Group: GroupBackends,
		Help:    "`file` or directory that a confined CLI may read and change (repeatable)",
		Without: ofBackend, define: each(func(v *Values) *[]string { return &v.Config.WritePaths })},
	{Name: "sandbox", Group: GroupBackends,
		Help:    "`mode`: skip backends that cannot work in a sandbox: auto, on or off (default auto)",
		Without: ofBackend,
		define:  parsed(func(v *Values) *clichain.SandboxPolicy { return &v.Config.Sandbox }, OneOf(SandboxModes...))},
	{Name: "pass-env", Group: GroupBackends,
		Help:    "`names`: additional environment variables for the CLI, such as FOO_*, separated by commas",
		Without: ofBackend, define: list(func(v *Values) *[]string { return &v.Config.PassEnv })},
	{Name: "redact-answers", Group: GroupBackends, Help: "redact secrets of the environment in answers too",
		Without: ofBackend, define: truth(func(v *Values) *bool { return &v.Config.RedactAnswers })},
	{Name: "no-cooldown", Group: GroupBackends, Help: "ignore cooldowns, and record none", Without: ofBackend,
		define: truth(func(v *Values) *bool { return &v.NoCooldown })},
	{Name: "spec", Group: GroupBackends, Help: "add or replace specs from a JSON or YAML `file` (repeatable)",
		Without: ofBackend, define: each(func(v *Values) *[]string { return &v.SpecFiles })},
	{Name: "binary", Group: GroupBackends, Help: "`name=file`: program of a backend (repeatable)",
		Without: ofBackend, define: setter((*Values).setBinary)},
	{Name: "account", Group: GroupBackends,
		Help:    "`name=account`: login of a backend, for cooldowns that machines share (repeatable)",
		Without: map[string]string{Batch: "a batch does not share its cooldowns with other machines", Submit: workers},
		define:  setter((*Values).setAccount)},
}
