package clichain

import (
	"context"
	"iter"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/provider"
	"github.com/clichain/clichain/runs"
)

// Provider runs one CLI. It is safe for concurrent use.
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
}

// NewProvider makes a Provider for a CLI. A nil cfg means defaults. Nothing is
// looked up or started, and the spec is checked at the first need, so it must not
// be changed; a mistake in the spec or the settings is reported by
// Validate, Available and every call, as bad_option.
func NewProvider(spec CliSpec, cfg *Config) *Provider {
	p := &Provider{}
	if cfg != nil {
		p.cfg = *cfg
	}
	p.cfg = p.cfg.withDefaults()
	p.impl.Init(spec, p.cfg.settings())
	return p
}

// Name is Config.Name, or the spec's name.
func (p *Provider) Name() string { return p.impl.Name }

// Complete runs the CLI for one answer. The error is a [*BackendError].
func (p *Provider) Complete(ctx context.Context, req Request) (*Response, error) {
	return p.impl.Complete(ctx, req)
}

// Stream runs the CLI and yields what happens, as it happens. Text is delivered
// once: in deltas or as a block. All of it since the last "reset" event, joined, is
// the answer: such an event comes where the CLI begins its answer anew, where the
// text was a remark before the use of a tool, and before the correction of an
// answer that does not meet the request's Schema. Config.KeepCommentary keeps the
// remarks. Events of a second try follow those of the first and an "attempt" event.
func (p *Provider) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return p.impl.Stream(ctx, req)
}

// Validate returns what is wrong with the spec and the settings as one error;
// nil if nothing is. Every call fails in the same way.
func (p *Provider) Validate() error { return plain(p.impl.Label(p.impl.Invalid())) }

// Available returns nil, or the [*BackendError] a call would be skipped with:
// the spec is invalid, the backend is suppressed, its program is not
// installed, it is known to be logged out, or Config.Sandbox, Config.Billing or
// Config.RefuseNested is against it. It starts nothing and takes microseconds, so it returns nil too
// where only the CLI itself can tell who would pay.
func (p *Provider) Available(ctx context.Context) error { return plain(p.impl.Refusal(ctx, Request{})) }

// Check returns nil, or the [*BackendError] with which a call of this request
// would be refused or skipped, as far as that can be told without starting
// anything: besides what [Provider.Available] looks at, the model, the access, the
// options, the schema, the folder, the session, and the breaker.
func (p *Provider) Check(ctx context.Context, req Request) error {
	return plain(p.impl.Check(ctx, req))
}

// Command is what a call of this request would start. It starts nothing and makes no
// file. Where the call would be refused or skipped, the error is that of
// [Provider.Check].
func (p *Provider) Command(ctx context.Context, req Request) (*runs.Command, error) {
	command, err := p.impl.Command(ctx, req)
	return command, plain(err)
}

// Probe runs the CLI with these arguments for something else than an answer,
// such as its version. The exit status is the caller's to judge; any other
// failure is a [*BackendError]. When the limit is over it is killed at once:
// there is nothing to save.
func (p *Provider) Probe(ctx context.Context, args []string, limit time.Duration) (runs.Output, error) {
	output, err := p.impl.Probe(ctx, args, limit)
	return output, plain(err)
}

// Models lists the models that the CLI says it offers, in its order, with what it tells
// of them, without asking one of them. It is empty, without an error, where the CLI has
// no way to list them, and in a container. The error is a [*BackendError]. It takes
// Config.Timeout at most, but not less than 15 s, for each source of the list; codex has
// two.
func (p *Provider) Models(ctx context.Context) ([]call.Model, error) {
	models, err := p.impl.Models(ctx)
	return models, plain(err)
}

// HoldKey names the kind of process that can answer the request as a turn: requests
// with one key can share a process. It changes with all that the process would be
// started with, the user's login among it. The error is the [*BackendError] of a call
// that would not be started, or unsupported where no process can be held for it. It
// starts nothing.
func (p *Provider) HoldKey(ctx context.Context, req Request) (key string, err error) {
	key, failed := p.impl.HoldKey(ctx, req)
	return key, plain(failed)
}

// Program is the path of the program that a call would start. The error is that
// of [Provider.Available], with the reason not_installed where there is none.
func (p *Provider) Program() (path string, err error) {
	path, failed := p.impl.Find()
	return path, plain(failed)
}

// Model is the name under which the CLI gets a model, "" for the CLI's own
// default; ok is false where the name belongs to no model of this backend.
func (p *Provider) Model(name string) (model string, ok bool) { return p.impl.Model(name) }

// Spec is the spec that the Provider was made from, under the name of the Provider.
func (p *Provider) Spec() CliSpec { return p.impl.SpecNamed() }

// Config is the configuration of the Provider, with its defaults filled in.
func (p *Provider) Config() Config { return p.cfg }

// Environ returns the variables of this process's environment that the CLI
// sees, and those that Config.Env sets. It holds secrets.
func (p *Provider) Environ() map[string]string { return p.impl.Environ() }

// plain is the error as an interface, which is nil if the pointer is.
func plain(err *BackendError) error {
	if err == nil {
		return nil
	}
	return err
}
