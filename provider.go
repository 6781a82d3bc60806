package clichain

import (
	"context"
	"iter"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/provider"
	"github.com/clichain/clichain/runs"
)

// Provider is a [Backend] that runs one CLI. The zero value fails every call with bad_option; use [NewProvider]. A
// Provider is safe for concurrent use.
type Provider struct {
	cfg  Config
	impl provider.Provider
}

func init() {
	held.Hold = func(
		ctx context.Context, p any, req Request, permit func(context.Context, call.Question) bool, session bool,
	) (*held.CLI, error) {
		return p.(*Provider).impl.Hold(ctx, req, permit, session)
	}
	held.Guard = func(ctx context.Context, p any, req Request) (*cooling.Entry, error) {
		return p.(*Provider).impl.Guard(ctx, req)
	}
	held.Watch = func(ctx context.Context, h any, req Request) (see func(Event), end func(*Response, error)) {
		w := newWatch(ctx, h.(*Hooks))
		w.callStart(req)
		return w.see, w.end
	}
	held.Keep = func(p any, req Request, store cooldown.QuotaStore) func(context.Context, []call.QuotaWindow) {
		k := &cooling.Keeper{Quotas: store, Log: p.(*Provider).cfg.Logger}
		about := candidateOf(p.(*Provider)).Cooldown(req)
		return func(ctx context.Context, windows []call.QuotaWindow) { k.Observe(ctx, about, windows) }
	}
}

// NewProvider makes a Provider for a CLI. A nil cfg means defaults. NewProvider does no I/O. The spec is validated on
// first use; do not modify it after calling NewProvider. Validate, Available and every call report a mistake in the
// spec or the settings as bad_option.
func NewProvider(spec CliSpec, cfg *Config) *Provider {
	p := &Provider{}
	if cfg != nil {
		p.cfg = *cfg
	}
	p.cfg = p.cfg.withDefaults()
	p.impl.Init(spec, p.cfg.settings())
	return p
}

// Name returns Config.Name, or else the name of the spec.
func (p *Provider) Name() string { return p.impl.Name }

// Complete runs the CLI for one answer. The error is a [*BackendError].
func (p *Provider) Complete(ctx context.Context, req Request) (*Response, error) {
	return p.impl.Complete(ctx, req)
}

// Stream runs the CLI and yields its events as they happen. The stream has each text once, as deltas or as a block.
// The answer is the concatenation of all text since the last [EventReset]. An EventReset occurs when the CLI starts
// its answer again, and after a remark that precedes a tool use (unless Config.KeepCommentary is set). It also occurs
// before the retry of an answer that does not match the Schema of the request. If the CLI is run a second time, its
// events follow those of the first run and an [EventAttempt].
func (p *Provider) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return p.impl.Stream(ctx, req)
}

// Validate returns the mistakes in the spec and the settings as one error, or nil. Every call fails with the same
// error.
func (p *Provider) Validate() error { return errorOf(p.impl.Label(p.impl.Invalid())) }

// Available returns nil, or the [*BackendError] with which every call would be skipped. The spec is then invalid, the
// backend is suppressed, its program is not installed, or it is known to be logged out. Or Config.Sandbox,
// Config.Billing or Config.RefuseNested forbids the call. Available starts no process and takes microseconds. It
// returns nil if only the CLI can tell who pays.
func (p *Provider) Available(ctx context.Context) error {
	return errorOf(p.impl.Refusal(ctx, Request{}))
}

// Check returns nil, or the [*BackendError] with which a call of the request would be refused or skipped. Check
// starts no process, so it only finds failures that are known in advance. In addition to [Provider.Available] it
// checks the model, the access, the options, the schema, the directory, the session and the breaker.
func (p *Provider) Check(ctx context.Context, req Request) error {
	return errorOf(p.impl.Check(ctx, req))
}

// Command returns the command that a call of the request would start. It starts no process and creates no file. The
// error is that of [Provider.Check].
func (p *Provider) Command(ctx context.Context, req Request) (*runs.Command, error) {
	command, err := p.impl.Command(ctx, req)
	return command, errorOf(err)
}

// Probe runs the CLI with args for a purpose other than an answer, such as its version. After limit, Probe kills the
// CLI. The error is nil for every exit code; any other failure is a [*BackendError].
func (p *Provider) Probe(ctx context.Context, args []string, limit time.Duration) (runs.Output, error) {
	output, err := p.impl.Probe(ctx, args, limit)
	return output, errorOf(err)
}

// Models returns the models that the CLI offers, in the order of the CLI, without a request to a model. The list is
// empty in a container, and if the CLI cannot list its models. Each source of the list may take Config.Timeout, at
// least 15 s; codex has two sources. The error is a [*BackendError].
func (p *Provider) Models(ctx context.Context) ([]call.Model, error) {
	models, err := p.impl.Models(ctx)
	return models, errorOf(err)
}

// AskQuota returns the usage windows that the CLI reports if it is asked without a request to a model. Only codex with
// a plan can be asked; it asks its service. The list is empty for other CLIs, in a container, and if the report is not
// understood. AskQuota may take Config.Timeout, at least 15 s. The error is a [*BackendError].
func (p *Provider) AskQuota(ctx context.Context) ([]call.QuotaWindow, error) {
	windows, err := p.impl.AskQuota(ctx)
	return windows, errorOf(err)
}

// HoldKey returns a key of the processes that can answer the request as a turn: requests with the same key can share
// a process. The key depends on the command and environment of the process, and on the login of the user. If a call
// would not start, the error is the [*BackendError] of that call. If no process can be kept running for the request,
// the error is unsupported. HoldKey starts no process.
func (p *Provider) HoldKey(ctx context.Context, req Request) (key string, err error) {
	key, failed := p.impl.HoldKey(ctx, req)
	return key, errorOf(failed)
}

// Program returns the path of the program that a call would start. The error is a [*BackendError]: bad_option if the
// spec is invalid, suppressed, or not_installed if there is no program.
func (p *Provider) Program() (path string, err error) {
	path, failed := p.impl.Find()
	return path, errorOf(failed)
}

// Model returns the name that the CLI has for a model, "" for the default model of the CLI. ok is false if the
// backend does not have the model.
func (p *Provider) Model(name string) (model string, ok bool) { return p.impl.Model(name) }

// Spec returns the spec of the Provider, with the name of the Provider. Do not modify its slices and maps.
func (p *Provider) Spec() CliSpec { return p.impl.SpecNamed() }

// Config returns the configuration of the Provider, with the defaults filled in.
func (p *Provider) Config() Config { return p.cfg }

// Environ returns the environment variables that the CLI gets: those of this process that it may see, and those of
// Config.Env. They may contain secrets.
func (p *Provider) Environ() map[string]string { return p.impl.Environ() }

// errorOf returns the error as an interface, which is nil if the pointer is.
func errorOf(err *BackendError) error {
	if err == nil {
		return nil
	}
	return err
}
