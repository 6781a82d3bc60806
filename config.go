package clichain

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/container"
	"github.com/clichain/clichain/internal/misconfig"
	"github.com/clichain/clichain/runs"
)

// DefaultTimeout is the default of Config.Timeout. It is below the 30 s after which common sandboxes kill a build
// step, so that the caller still gets the error.
const DefaultTimeout = 25 * time.Second

// Config configures a [Provider]. The zero value works. [NewProvider] and [NewChain] copy it.
type Config struct {
	// Name is the name of the backend. Another name than that of the spec makes an instance: a second backend of the
	// same CLI, such as "claude-work" beside "claude". Env sets its home directory (CLAUDE_CONFIG_DIR, CODEX_HOME, …).
	// An instance has its own login, cooldowns and sessions. SKIP_CLI can turn it off by its name or by that of the
	// spec. The name must be valid as the name of a spec. Empty: the name of the spec.
	Name string
	// Binary is the program to run: a name to look up on PATH, or an absolute path. A backend with a Binary is never
	// skipped because credentials are missing, since the program may have its own. Empty: the program of the spec.
	Binary string
	// Account identifies the login in a ChainConfig.Store that several machines share. Backends with the same name
	// and Account share their cooldowns, and backends of one vendor with the same Account share their usage windows. It
	// has at most 200 bytes, all printable. Empty: the login is identified by the file of the program and the environment
	// variables that select an account, which differ between machines. For usage windows, the host, the paths of
	// the login's files and these variables identify it.
	Account string
	// Model is the model for requests that name none, or only the backend. Effort is the reasoning effort for requests
	// without Options.Effort. With Name, one chain can ask the same CLI with several models: "claude-haiku" before
	// "claude-sonnet". Empty: UseModel and UseEffort of the spec, else the choice of the CLI.
	Model, Effort string
	// Agent changes the defaults for the work of an agent: a Timeout of 600 s and an IdleTimeout of 3 min. For
	// requests with more access than AccessNone, it also sets 10 turns if the CLI has such a limit, and with
	// AccessWrite the AgentTools of the spec.
	Agent bool
	// Timeout limits one attempt, including its retry. The CLI then gets SIGTERM, and SIGKILL after a tenth of
	// Timeout, at least 0.5 s and at most 2 s. Zero: DefaultTimeout. Negative: only the deadline of the context.
	Timeout time.Duration
	// FirstOutputTimeout limits the time until the first output of the CLI on stdout or stderr. IdleTimeout limits
	// each later silence. Zero: no limit.
	FirstOutputTimeout, IdleTimeout time.Duration
	// RetryPatience limits how long a run may continue while its CLI retries an overloaded or failing service and the
	// chain has another eligible backend. If a usage limit or a failed login causes the retries, the run ends at
	// once. The last backend always has its whole Timeout. Zero: 3 s. Negative: every backend has its whole Timeout.
	RetryPatience time.Duration
	// Breaker stops calls from starting a CLI that keeps failing. After three failures in a row, calls fail with
	// cooling_down for 30 s. Then one call probes the CLI, and each failed probe doubles the time, up to 5 min. With
	// [cooldown.BreakerOn], calls of the Provider and sessions of package live count. Zero: only sessions count. The
	// calls of a chain do not count, because a chain has cooldowns.
	Breaker cooldown.Breaker
	// Output and Transport select one of the output modes and prompt transports of the spec. Empty: the best one.
	Output    clispec.OutputMode
	Transport clispec.Transport
	// ModelAliases maps custom names to models of this backend, such as a short name to a dated model. They override
	// the aliases of the spec. A name that lets the CLI choose a model, such as "default" or the name of the backend,
	// is invalid.
	ModelAliases map[string]string
	// RefuseNested fails a call with nested_session, before a process starts, if this process runs inside a session
	// of the same agent. The environment variables in NestedEnv of the spec identify such a session. Zero: the call
	// runs, and the CLI does not see the outer session.
	RefuseNested bool
	// TrustDir lets files in Request.Dir and its parent directories influence the CLI: settings, hooks, plugins, MCP
	// servers, instructions and variables in ".env". Zero: with AccessRead and AccessWrite the CLI ignores them, and
	// a call fails with untrusted_dir if the CLI has no option for that. AccessNone never reads a directory, and
	// AccessFull always trusts it. If the sandbox of the CLI itself applies, as with codex, it does not confine the
	// programs of a trusted directory, so the call counts as unconfined.
	TrustDir bool
	// FreshSessionOnReject starts a new session if the CLI rejects the session of the request. The response then has
	// FlagFreshSession. Zero: the call fails.
	FreshSessionOnReject bool
	// Sandbox controls the behavior in a sandbox such as a Nix build. Zero: SandboxAuto.
	Sandbox SandboxPolicy
	// Confine tells whether the kernel confines the CLI to the files that the access level of the request permits.
	// Zero: ConfineAuto.
	Confine call.Confinement
	// ReadPaths and WritePaths are absolute paths of further files and directories that a confined CLI may read, or
	// read and change. Nil: none.
	ReadPaths, WritePaths []string
	// CachePaths are directories that a confined CLI may change with AccessWrite, such as the caches of compilers and
	// package managers. A "~" at the start is the home directory. Nil: common caches; see docs/reference/confinement.md.
	// Empty: none.
	CachePaths []string
	// Billing restricts who pays for a call. With BillingSubscription, a call never costs more than the flat price of
	// a plan. The CLI does not see API keys of the vendor, and a backend that may charge for the call is skipped with
	// the reason billing. If only the CLI can tell, its status command runs once. A run that turns out to be charged,
	// such as for usage beyond the plan, is terminated. BillingAPIKey protects the plan of a user in the same way.
	// Zero: no restriction.
	Billing call.Billing
	// PassEnv lists more environment variables of this process that the CLI may see. A trailing "*" makes a prefix.
	// InheritEnv passes all of them. BASH_ENV, ENV and functions of bash, which shells execute before a command, are
	// passed only if PassEnv has their full name. From PATH, the CLI gets the absolute directories.
	PassEnv    []string
	InheritEnv bool
	// Env sets environment variables, as "NAME=value". It overrides all other sources.
	Env []string
	// RequestEnv lists the environment variables that Request.Env may set. A trailing "*" makes a prefix, such as
	// "APP_*". A request that sets another variable is skipped as unsupported. Nil: none.
	RequestEnv []string
	// MaxOutput limits the output of a run in bytes. Zero: 256 MiB.
	MaxOutput int64
	// MaxParallel limits the number of concurrent calls of this backend; further calls wait. Zero: no limit.
	MaxParallel int
	// Slots limits the number of concurrent runs of all backends that share the channel; its capacity is the limit. A
	// CLI uses 150 to 650 MB of memory. Nil: no limit.
	Slots chan struct{}
	// MaxQueue limits the time for which a call waits for a slot, or for another call of the same session. A call
	// that waits longer is skipped with budget_spent. The wait counts neither against Timeout nor in the duration of
	// the attempt. Zero: until a slot is free or the context is canceled.
	MaxQueue time.Duration
	// Container runs the CLI in a container. Nil: on this machine.
	Container *Container
	// Registry lists the current runs of this backend. Nil: none.
	Registry *runs.Registry
	// Shim starts a small process of this program between this process and each run. It adopts the orphaned
	// descendants of the CLI, so that every process of a run can be killed, also if this process dies. It costs a few
	// milliseconds and megabytes for each run. The program must call [runs.ShimMain]. Linux only; no effect
	// elsewhere.
	Shim bool
	// Cgroup is the directory of a version 2 control group that is delegated to this user. Each run gets its own
	// child group, which is killed as a whole. Empty: none. Linux only.
	Cgroup string
	// RawOutput accepts the raw output of a run as its answer if the CLI exits with 0 and the output cannot be
	// parsed. The response then has a warning and FlagRawOutput. Zero: the call fails with bad_output.
	RawOutput bool
	// KeepCommentary streams all text immediately as text, and takes back no remark that precedes a tool use. Zero:
	// if the answer is the last block of text, a stream yields the earlier blocks as thinking, and the answer when it
	// is known to be the last block.
	KeepCommentary bool
	// StripFence removes a code fence that surrounds the whole answer. A request with a Schema always does so.
	StripFence bool
	// RedactAnswers redacts secrets of the environment in the text of the model too, not only in errors. A stream
	// then yields its text at the end, and no thinking.
	RedactAnswers bool
	// Logger gets a debug record at the start and the end of each run, without prompts, answers and environment
	// variables. It also gets a record for each of the first 20 lines that cannot be parsed or that no rule of the
	// spec matches, shortened and without secrets. Nil: no log.
	Logger *slog.Logger
}

// SandboxPolicy controls the behavior in a sandbox, in which a CLI would wait for a missing network, or for a login
// that no user can complete. The zero value means SandboxAuto.
type SandboxPolicy string

const (
	// SandboxAuto, also the meaning of the zero value: as SandboxOn in a Nix build, otherwise as SandboxOff.
	SandboxAuto SandboxPolicy = "auto"
	// SandboxOn: this process runs in a sandbox. A call asks only backends that are known to be logged in, and none
	// if the machine has no network interface but loopback.
	SandboxOn SandboxPolicy = "on"
	// SandboxOff: no backend is skipped because of a sandbox.
	SandboxOff SandboxPolicy = "off"
)

const (
	agentTimeout         = 600 * time.Second
	agentIdleTimeout     = 3 * time.Minute // a tool, such as a test, may print nothing for minutes
	defaultMaxOutput     = 256 << 20
	defaultRetryPatience = 3 * time.Second
)

// withDefaults returns a copy in which the zero fields have their defaults.
func (c Config) withDefaults() Config {
	if c.Agent {
		c.Timeout, c.IdleTimeout = cmp.Or(c.Timeout, agentTimeout), cmp.Or(c.IdleTimeout, agentIdleTimeout)
	}
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.MaxOutput = cmp.Or(c.MaxOutput, defaultMaxOutput)
	c.RetryPatience = cmp.Or(c.RetryPatience, defaultRetryPatience)
	if c.Container != nil {
		c.Container = new(*c.Container)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate returns all mistakes in the settings as one error, which has a [*BackendError] with the reason bad_option
// and the field for each of them, or nil. Every call of a Provider with such settings fails with the same error.
func (c Config) Validate() error { return misconfig.Join(c.mistakes()) }

func (c *Config) mistakes() []*BackendError {
	s := c.settings()
	return s.Mistakes()
}

// settings converts the Config for the internal packages, which cannot import its type.
func (c *Config) settings() backend.Settings {
	return backend.Settings{
		Name: c.Name, Binary: c.Binary, Account: c.Account, Agent: c.Agent,
		Model: c.Model, Effort: c.Effort,
		Timeout: c.Timeout, RetryPatience: c.RetryPatience, MaxQueue: c.MaxQueue,
		FirstOutputTimeout: c.FirstOutputTimeout, IdleTimeout: c.IdleTimeout, Breaker: c.Breaker,
		Output: c.Output, Transport: c.Transport, ModelAliases: c.ModelAliases,
		RefuseNested: c.RefuseNested, TrustDir: c.TrustDir, FreshSessionOnReject: c.FreshSessionOnReject,
		Sandbox: backend.Sandbox(c.Sandbox), Billing: c.Billing,
		Confine: c.Confine, ReadPaths: c.ReadPaths, WritePaths: c.WritePaths, CachePaths: c.CachePaths,
		PassEnv: c.PassEnv, InheritEnv: c.InheritEnv, Env: c.Env, RequestEnv: c.RequestEnv,
		MaxOutput: c.MaxOutput, MaxParallel: c.MaxParallel, Slots: c.Slots,
		Container: (*container.Container)(c.Container), Registry: c.Registry, Shim: c.Shim, Cgroup: c.Cgroup,
		RawOutput: c.RawOutput, KeepCommentary: c.KeepCommentary, StripFence: c.StripFence, RedactAnswers: c.RedactAnswers,
		Logger: c.Logger,
	}
}
