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

// Stream runs the CLI and yields its events as they happen. The stream has each text once, in deltas or as a block. All
// text since the last "reset" event, joined, is the answer. A reset comes when the CLI begins its answer anew, after a
// remark before the use of a tool unless Config.KeepCommentary is set, and before the correction of an answer that does
// not meet the request's Schema. The events of a second attempt follow those of the first and an "attempt" event.
func (p *Provider) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return p.impl.Stream(ctx, req)
}

// Validate returns the mistakes in the spec and the settings as one error; nil if there is none. Every call fails with
// the same error.
func (p *Provider) Validate() error { return errorOf(p.impl.Label(p.impl.Invalid())) }

// Available returns nil, or the [*BackendError] with which a call would be skipped: the spec is invalid, the backend
// is suppressed, its program is not installed, it is known to be logged out, or Config.Sandbox, Config.Billing or
// Config.RefuseNested forbids the call. It starts nothing and takes microseconds. It returns nil if only the CLI can
// tell who would pay.
func (p *Provider) Available(ctx context.Context) error {
	return errorOf(p.impl.Refusal(ctx, Request{}))
}

// Check returns nil, or the [*BackendError] with which a call of the request would be refused or skipped, as far as
// that is known without starting anything. In addition to [Provider.Available] it checks the model, the access, the
// options, the schema, the directory, the session, and the breaker.
func (p *Provider) Check(ctx context.Context, req Request) error {
	return errorOf(p.impl.Check(ctx, req))
}

// Command returns what a call of the request would start. It starts nothing and makes no file. The error is that of
// [Provider.Check].
func (p *Provider) Command(ctx context.Context, req Request) (*runs.Command, error) {
	command, err := p.impl.Command(ctx, req)
	return command, errorOf(err)
}

// Probe runs the CLI with these arguments for something other than an answer, such as its version. The caller judges
// the exit code; any other failure is a [*BackendError]. At the limit Probe kills the CLI at once.
func (p *Provider) Probe(ctx context.Context, args []string, limit time.Duration) (runs.Output, error) {
	output, err := p.impl.Probe(ctx, args, limit)
	return output, errorOf(err)
}

// Models lists the models that the CLI says it offers, in the order of the CLI, without a request to a model. The
// list is empty in a container, and if the CLI cannot list its models. The error is a [*BackendError]. Each source of
// the list may take Config.Timeout, or 15 s if that is longer; codex has two sources.
func (p *Provider) Models(ctx context.Context) ([]call.Model, error) {
	models, err := p.impl.Models(ctx)
	return models, errorOf(err)
}

// HoldKey identifies the kind of process that can answer the request as a turn: requests with the same key can share a
// process. The key depends on everything that the process would be started with, and on the user's login. The error is
// the [*BackendError] of a call that would not start, or unsupported if no process can be held for the request. HoldKey
// starts nothing.
func (p *Provider) HoldKey(ctx context.Context, req Request) (key string, err error) {
	key, failed := p.impl.HoldKey(ctx, req)
	return key, errorOf(failed)
}

// Program returns the path of the program that a call would start. The error is that of [Provider.Available], with the
// reason not_installed if there is no program.
func (p *Provider) Program() (path string, err error) {
	path, failed := p.impl.Find()
	return path, errorOf(failed)
}

// Model returns the name under which the CLI knows a model, "" for the default of the CLI; ok is false if the backend
// has no such model.
func (p *Provider) Model(name string) (model string, ok bool) { return p.impl.Model(name) }

// Spec returns the spec of the Provider, under the name of the Provider.
func (p *Provider) Spec() CliSpec { return p.impl.SpecNamed() }

// Config returns the configuration of the Provider, with its defaults.
func (p *Provider) Config() Config { return p.cfg }

// Environ returns the environment variables of this process that the CLI sees, and those that Config.Env sets. It holds
// secrets.
func (p *Provider) Environ() map[string]string { return p.impl.Environ() }

// errorOf returns the error as an interface, which is nil if the pointer is.
func errorOf(err *BackendError) error {
	if err == nil {
		return nil
	}
	return err
}
