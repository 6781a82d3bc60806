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

// DefaultTimeout bounds one attempt. It is deliberately below the 30 s after
// which common sandboxes kill a build step, so that the error still arrives.
const DefaultTimeout = 25 * time.Second

// Config sets how one backend is run. The zero value works. It is copied when
// a backend is made.
type Config struct {
	// Name makes a backend of its own of the CLI, such as "claude-work" beside
	// "claude": an instance, with the home that Env shows it (CLAUDE_CONFIG_DIR,
	// CODEX_HOME, …). It has its own login, cooldowns, sessions and place in
	// SKIP_CLI, which turns it off by the spec's name too. It has the form of a
	// spec's name. Empty: the spec's.
	Name string
	// Binary is the program to run instead of the spec's: a name to look for
	// on PATH, or an absolute path. Empty: the spec's. A program that is named
	// here may bring a login of its own, so it is never skipped for the lack of
	// one.
	Binary string
	// Account names the login, for a ChainConfig.Store that several machines share:
	// backends of one name cool down together where they have the same Account.
	// Empty: told from the program's file and the variables that choose a login, which
	// differ from machine to machine.
	Account string
	// Agent sets what the work of an agent needs, where nothing else is set: a
	// Timeout of 600 s, an IdleTimeout of 3 min, and for a request with more access
	// than AccessNone, as far as the CLI takes them, 10 turns and, with AccessWrite,
	// the spec's AgentTools.
	Agent bool
	// Timeout bounds one attempt, a second try included. The CLI is asked to end then,
	// and killed a tenth of the time later: after 0.5 s at least and 2 s at most.
	// Zero: DefaultTimeout; negative: none but the context's.
	Timeout time.Duration
	// FirstOutputTimeout bounds the time until the CLI says anything at all,
	// IdleTimeout every later silence, on both of its streams. Zero: no bound.
	FirstOutputTimeout, IdleTimeout time.Duration
	// RetryPatience is how long a run may go on while its CLI retries an
	// overloaded or failing service and a chain has another backend left that
	// could answer. A limit or a refused login ends the run at once then; the
	// last backend keeps its whole Timeout. Zero: 3 s; negative: every backend
	// keeps its Timeout.
	RetryPatience time.Duration
	// Breaker keeps a CLI that fails from being started again and again: after three
	// failures in a row no call starts it for 30 s, then for twice as long, up to 5 min,
	// each time until one call has probed it. Calls fail with cooling_down meanwhile.
	// [cooldown.BreakerOn]: calls of the Provider and sessions of package live count. Zero:
	// sessions only. A chain has cooldowns instead, and its calls do not count here.
	Breaker cooldown.Breaker
	// Output and Transport choose among what the spec has. Empty: its best.
	Output    clispec.OutputMode
	Transport clispec.Transport
	// ModelAliases give names of the caller's own to models of this backend,
	// or pin names to dated models. They win over the spec's. A name that leaves the
	// choice to the CLI, such as "default" or the backend's own, is refused.
	ModelAliases map[string]string
	// RefuseNested fails a call inside a session of the same agent, which the
	// spec's NestedEnv shows, with nested_session, before anything starts. Zero:
	// the CLI does not see the outer session.
	RefuseNested bool
	// TrustDir lets what lies in Request.Dir and above it steer the CLI:
	// settings, hooks, plugins, MCP servers, instructions, variables in ".env".
	// Zero: nothing of it counts with AccessRead and AccessWrite, and a call is
	// refused with untrusted_dir where the CLI cannot be told so. AccessNone never
	// looks at a directory, and AccessFull always trusts it.
	TrustDir bool
	// FreshSessionOnReject begins a new session where the one to go on from is
	// not accepted; the response is flagged. Zero: that is an error.
	FreshSessionOnReject bool
	// Sandbox says what happens in a sandbox, such as a Nix build. Zero:
	// SandboxAuto.
	Sandbox SandboxPolicy
	// Billing is who may pay. BillingSubscription: nothing that costs more than
	// a plan which is paid for anyway; the CLI does not see the vendor's keys,
	// and a backend of which this is not known is skipped with the reason
	// billing. Where only the CLI can tell, its status command is asked, once.
	// A run that turns out to be paid for all the same, such as usage over
	// the plan, is ended. BillingAPIKey: nothing at the cost of a person's plan,
	// in the same way. Zero: anybody.
	Billing call.Billing
	// PassEnv names more variables of this process that the CLI may see; a
	// trailing "*" makes a prefix. InheritEnv passes them all. Only its whole name
	// in PassEnv passes BASH_ENV, ENV or a function of bash, which shells run
	// before their command. Of PATH the CLI gets the absolute folders.
	PassEnv    []string
	InheritEnv bool
	// Env sets variables, as "NAME=value", whatever else would set them.
	Env []string
	// RequestEnv names the variables that a Request may set with Request.Env; a
	// trailing "*" makes a prefix, such as "APP_*". A request with another variable is
	// skipped as unsupported. Nil: none.
	RequestEnv []string
	// MaxOutput bounds the bytes a run may print. Zero: 256 MiB.
	MaxOutput int64
	// MaxParallel bounds how many calls of this backend run at once; more wait
	// their turn. Zero: no bound.
	MaxParallel int
	// Slots does so for all backends that share the channel: its capacity is
	// how many CLIs may run at once. A CLI takes 150 to 650 MB while it runs, so
	// the machine's memory sets the number. Nil: no bound.
	Slots chan struct{}
	// MaxQueue bounds how long a call waits for a slot, and for another call that
	// goes on from the same session; then it is skipped with budget_spent. The
	// wait is no part of Timeout, nor of an attempt's duration. Zero: until a slot
	// is free, which the Timeout of those before it bounds, or the context ends.
	MaxQueue time.Duration
	// Container runs the CLI in a container. Nil: on this machine.
	Container *Container
	// Registry lists this backend's runs while they go on. Nil: none.
	Registry *runs.Registry
	// Shim puts a small process of this program between us and each run, which
	// adopts whatever loses its parent: then nothing gets away, even what hides
	// from a search, and nothing outlives this process. It costs some
	// milliseconds and megabytes a run, and the program must call [runs.ShimMain].
	// Linux only; without effect elsewhere.
	Shim bool
	// Cgroup is a directory of a version 2 control group that was delegated to
	// this user; each run gets a group of its own below it, which is killed as
	// a whole. Empty: none. Linux only.
	Cgroup string
	// RawOutput takes what a run printed as its answer when it exits 0 and
	// cannot be read; the response carries a warning.
	RawOutput bool
	// KeepCommentary streams all text as text, at once, and takes back no remark
	// before the use of a tool. Else, where the last block of text is the answer,
	// a stream has the blocks before it as thinking, and the answer when it is
	// known to be the last.
	KeepCommentary bool
	// StripFence removes one code fence around the whole answer. It is always
	// done when the request has a Schema.
	StripFence bool
	// RedactAnswers takes secrets of the environment out of the model's words too,
	// as out of errors. A stream then has no text before its end, and no thinking.
	RedactAnswers bool
	// Logger gets a debug record at the start and the end of each run, without
	// prompts, answers or environments, and one for each of the first 20 lines of
	// it that are broken or of no known event, shortened and without secrets. Nil:
	// silent.
	Logger *slog.Logger
}

// SandboxPolicy says what happens in a sandbox, where a backend would stall on
// a missing network, or ask for a login that no person is there to give.
type SandboxPolicy string

const (
	// SandboxAuto, also the meaning of the zero value: as SandboxOn inside a
	// Nix build, else as SandboxOff.
	SandboxAuto SandboxPolicy = "auto"
	// SandboxOn: this is one. Only backends that are known to be logged in are
	// tried, and none where the machine has no network but loopback.
	SandboxOn SandboxPolicy = "on"
	// SandboxOff: nothing is skipped on account of a sandbox.
	SandboxOff SandboxPolicy = "off"
)

const (
	agentTimeout         = 600 * time.Second
	agentIdleTimeout     = 3 * time.Minute // a tool, such as a test, may say nothing for long
	defaultMaxOutput     = 256 << 20
	defaultRetryPatience = 3 * time.Second
)

// withDefaults returns a copy whose zero fields are filled in.
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

// Validate returns all mistakes in the settings as one error, in which a
// [*BackendError] with the reason bad_option names the field of each; nil if
// there is none. A Provider with such settings fails every call in the same way.
func (c Config) Validate() error { return misconfig.Join(c.mistakes()) }

func (c *Config) mistakes() []*BackendError {
	s := c.settings()
	return s.Mistakes()
}

// settings is the Config for the packages below, which do not know its types.
func (c *Config) settings() backend.Settings {
	return backend.Settings{
		Name: c.Name, Binary: c.Binary, Account: c.Account, Agent: c.Agent,
		Timeout: c.Timeout, RetryPatience: c.RetryPatience, MaxQueue: c.MaxQueue,
		FirstOutputTimeout: c.FirstOutputTimeout, IdleTimeout: c.IdleTimeout, Breaker: c.Breaker,
		Output: c.Output, Transport: c.Transport, ModelAliases: c.ModelAliases,
		RefuseNested: c.RefuseNested, TrustDir: c.TrustDir, FreshSessionOnReject: c.FreshSessionOnReject,
		Sandbox: backend.Sandbox(c.Sandbox), Billing: c.Billing,
		PassEnv: c.PassEnv, InheritEnv: c.InheritEnv, Env: c.Env, RequestEnv: c.RequestEnv,
		MaxOutput: c.MaxOutput, MaxParallel: c.MaxParallel, Slots: c.Slots,
		Container: (*container.Container)(c.Container), Registry: c.Registry, Shim: c.Shim, Cgroup: c.Cgroup,
		RawOutput: c.RawOutput, KeepCommentary: c.KeepCommentary, StripFence: c.StripFence, RedactAnswers: c.RedactAnswers,
		Logger: c.Logger,
	}
}
