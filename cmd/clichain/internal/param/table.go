package param

import (
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/settings"
)

// The commands that share the flags of the table.
const (
	Ask    = "ask"
	Build  = "build"
	Batch  = "batch"
	Submit = "submit"
	Serve  = "serve"
	Worker = "worker"
)

// Commands are all commands that share the flags of the table.
var Commands = []string{Ask, Build, Batch, Submit, Serve, Worker}

// Flag is a row of the table.
type Flag struct {
	Name string
	Help string
	// Field is the field of a request or of a backend's configuration that the flag sets, as errors name it. Empty: the
	// name of the flag, with underscores.
	Field string
	// Without has the commands that do not have the flag, each with the reason.
	Without map[string]string
	// HelpOf has the help text of a command where it differs from Help.
	HelpOf map[string]string

	define define
}

const (
	inRequest    = "a client says it in its request"
	inJob        = "a job says it"
	inOptions    = "a line says it in its options"
	workers      = "the worker decides it"
	noAccess     = "requests of clients have no access"
	linesPrompt  = "the lines are the prompts"
	conversation = "each line is a conversation of its own"
	timeoutOnly  = "--timeout and the default of --agent limit it"
)

// The usual reasons of a flag about the request, of one that a line of a batch says itself, and of one about backends.
var (
	ofRequest = map[string]string{Serve: inRequest, Worker: inJob}
	ofLine    = map[string]string{Serve: inRequest, Worker: inJob, Batch: inOptions}
	ofPrompt  = map[string]string{Serve: inRequest, Worker: inJob, Batch: linesPrompt}
	ofBackend = map[string]string{Submit: workers}
	ofAgent   = map[string]string{Submit: workers, Serve: noAccess}
)

// Table has every flag about a request and about the backends, in the order of the help texts. A command has every flag
// of the table but those whose row has a reason for its absence.
var Table = []Flag{
	{Name: "prompt-file", Help: "`file` with the prompt, behind that of the command line", Without: ofPrompt,
		define: text(func(v *Values) *string { return &v.PromptFile })},
	{Name: "no-stdin", Help: "leave stdin alone, also where it is no terminal", Without: ofPrompt,
		define: truth(func(v *Values) *bool { return &v.NoStdin })},
	{Name: "system", Help: "system prompt `text`", Without: ofRequest,
		define: text(func(v *Values) *string { return &v.System })},
	{Name: "system-file", Help: "`file` with the system prompt", Without: ofRequest,
		define: text(func(v *Values) *string { return &v.SystemFile })},
	{Name: "model", Help: "model `name`, backend/name, or a backend", Without: ofRequest,
		define: text(func(v *Values) *string { return &v.Request.Model })},
	{Name: "only", Help: "try these backends, such as `a,b`, in this order", Without: ofBackend,
		define: parsed(func(v *Values) *[]string { return &v.Only }, Names)},
	{Name: "access", Help: "`level` of what the agent may do: none, read, write or full", Without: ofRequest,
		define: parsed(func(v *Values) *clichain.Access { return &v.Request.Access }, Access)},
	{Name: "agent", Help: "limits for the work of an agent: 600s, 10 turns, tools for files; needs --access",
		HelpOf:  map[string]string{Worker: "limits for the work of an agent: 600s, 10 turns, tools for files"},
		Without: ofAgent, define: truth(func(v *Values) *bool { return &v.Config.Agent })},
	{Name: "timeout", Without: ofBackend,
		Help:   "limit for each backend, a `duration` (default " + clichain.DefaultTimeout.String() + ")",
		define: duration(func(v *Values) *time.Duration { return &v.Config.Timeout })},
	{Name: "idle-timeout", Help: "limit for how long a CLI may say nothing, a `duration` (default none, with --agent 3m)",
		Without: map[string]string{Batch: timeoutOnly, Submit: workers, Serve: timeoutOnly, Worker: timeoutOnly},
		define:  duration(func(v *Values) *time.Duration { return &v.Config.IdleTimeout })},
	{Name: "budget", Help: "limit for all of them together, a `duration`",
		HelpOf: map[string]string{
			Serve:  "limit for all backends of an answer together, a `duration`",
			Worker: "limit for all backends of a job together, a `duration`",
		},
		Without: map[string]string{Batch: "its --budget is for all lines together", Submit: workers},
		define:  duration(func(v *Values) *time.Duration { return &v.Budget })},
	{Name: "schema", Help: "`file` with a JSON Schema for the answer", Without: ofRequest,
		define: text(func(v *Values) *string { return &v.Schema })},
	{Name: "dir", Help: "`directory` to work in, with more access than none", Without: ofRequest,
		define: text(func(v *Values) *string { return &v.Request.Dir })},
	{Name: "trust-dir", Help: "let settings, hooks and instructions in it steer the CLI", Without: ofAgent,
		define: truth(func(v *Values) *bool { return &v.Config.TrustDir })},
	{Name: "session", Help: "`session` of an earlier response, or backend:id, to go on",
		Without: map[string]string{Batch: conversation, Serve: inRequest, Worker: inJob},
		define:  text(func(v *Values) *string { return &v.Request.Session })},
	{Name: "continue", Help: "go on from the newest session of the directory",
		Without: map[string]string{
			Batch: conversation, Submit: "another session may be the newest when the job runs", Serve: inRequest, Worker: inJob,
		},
		define: truth(func(v *Values) *bool { return &v.options().Continue })},
	{Name: "session-id", Help: "`id` of the new session, where the CLI takes one",
		Without: map[string]string{
			Batch: conversation, Submit: "a job may run twice, and the first run takes the id", Serve: inRequest, Worker: inJob,
		},
		define: text(func(v *Values) *string { return &v.options().SessionID })},
	{Name: "max-turns", Help: "limit of `n` turns for the agent", Without: ofRequest,
		define: parsed(func(v *Values) *int { return &v.options().MaxTurns }, Count)},
	{Name: "max-budget-usd", Help: "limit for the cost in `usd`", Without: ofRequest,
		define: parsed(func(v *Values) *float64 { return &v.options().MaxBudgetUSD }, Dollars)},
	{Name: "effort", Help: "reasoning effort, a `level` the CLI knows", Without: ofRequest,
		define: text(func(v *Values) *string { return &v.options().Effort })},
	{Name: "allow-tool", Help: "`tool` that the agent may use, in the CLI's own terms", Field: "allowed_tools",
		Without: ofRequest, define: list(func(v *Values) *[]string { return &v.options().AllowedTools })},
	{Name: "deny-tool", Help: "`tool` that it may not", Field: "disallowed_tools", Without: ofRequest,
		define: list(func(v *Values) *[]string { return &v.options().DisallowedTools })},
	{Name: "permission-mode", Help: "permission `mode`, in the CLI's own terms", Without: ofLine,
		define: text(func(v *Values) *string { return &v.options().PermissionMode })},
	{Name: "system-mode", Help: "append to the CLI's system prompt, or replace it", Without: ofLine,
		define: text(func(v *Values) *string { return (*string)(&v.options().SystemMode) })},
	{Name: "append-system", Help: "`text` that is added to the system prompt", Without: ofLine,
		define: text(func(v *Values) *string { return &v.options().AppendSystem })},
	{Name: "env", Help: "set a variable of the CLI, `NAME=value`; a secret: --pass-env",
		HelpOf:  map[string]string{Submit: "set a variable of the CLI, `NAME=value`; it is stored in the queue"},
		Without: map[string]string{Batch: "no line can set a variable", Serve: inRequest, Worker: inJob},
		define:  setter((*Values).setEnv)},
	{Name: "mcp-config", Help: "`file` with MCP servers, or the JSON itself", Without: ofLine,
		define: each(func(v *Values) *[]string { return &v.MCP })},
	{Name: "strict-mcp", Help: "no MCP servers but those", Without: ofLine,
		define: truth(func(v *Values) *bool { return &v.options().StrictMCP })},
	{Name: "fallback-model", Help: "`model` the CLI turns to when the first is overloaded", Without: ofLine,
		define: text(func(v *Values) *string { return &v.options().FallbackModel })},
	{Name: "agents", Help: "`file` with subagents as JSON", Without: ofLine,
		define: text(func(v *Values) *string { return &v.Agents })},
	{Name: "no-session", Help: "store nothing to go on from", Field: "no_session_persistence", Without: ofLine,
		define: truth(func(v *Values) *bool { return &v.options().NoSessionPersistence })},
	{Name: "add-dir", Help: "further `directory` to work in", Field: "add_dirs", Without: ofLine,
		define: each(func(v *Values) *[]string { return &v.options().AddDirs })},
	{Name: "image", Help: "image `file` to look at", Field: "images", Without: ofLine,
		define: each(func(v *Values) *[]string { return &v.options().Images })},
	{Name: "extra", Help: "raw argument for one CLI, as `backend=argument`", Without: ofLine,
		define: setter((*Values).addExtra)},
	{Name: "billing", Help: "`who` alone may pay: subscription, api_key or any", Without: ofBackend,
		define: parsed(func(v *Values) *settings.Payer { return &v.Billing }, Payer)},
	{Name: "sandbox", Help: "`mode` auto, on or off: skip what cannot work in a sandbox", Without: ofBackend,
		define: parsed(func(v *Values) *clichain.SandboxPolicy { return &v.Config.Sandbox }, OneOf(SandboxModes...))},
	{Name: "pass-env", Help: "`name`s of more variables it may see, also FOO_*", Without: ofBackend,
		define: list(func(v *Values) *[]string { return &v.Config.PassEnv })},
	{Name: "redact-answers", Help: "take secrets of the environment out of answers too", Without: ofBackend,
		define: truth(func(v *Values) *bool { return &v.Config.RedactAnswers })},
	{Name: "no-cooldown", Help: "ignore the cooldowns of earlier calls, and record none", Without: ofBackend,
		define: truth(func(v *Values) *bool { return &v.NoCooldown })},
	{Name: "spec", Help: "add the specs of this JSON or YAML `file`, or replace some", Without: ofBackend,
		define: each(func(v *Values) *[]string { return &v.SpecFiles })},
	{Name: "binary", Help: "run the program at path, `name=path`, for that backend", Without: ofBackend,
		define: setter((*Values).setBinary)},
	{Name: "account", Help: "name the login of a backend, `name=account`, for cooldowns that machines share",
		Without: map[string]string{Batch: "no machine shares its cooldowns", Submit: workers},
		define:  setter((*Values).setAccount)},
}
