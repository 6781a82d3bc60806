package clichain

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"time"
)

// Backend answers requests. [Provider] and [Chain] are Backends, so chains
// nest, and tests can use their own.
//
// A failed call returns an error that holds a [*BackendError] for each backend
// involved; a chain goes on to its next backend unless the Reason says that no
// other could do better (bad_request, bad_option, canceled). Implementations
// must be safe for concurrent use.
type Backend interface {
	// Name is the backend's name, such as "claude".
	Name() string
	// Complete answers the request, or says why not.
	Complete(ctx context.Context, req Request) (*Response, error)
	// Stream answers in events, the last of which is an EventDone. An error is
	// terminal. A stream can be read once; leaving it early stops the call.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// Provider runs one CLI. It is safe for concurrent use.
type Provider struct {
	name   string
	spec   *CliSpec
	broken error // what is wrong with the spec; the rest is not set then
	cfg    Config
	own    semaphore // nil: no bound
	barred []string  // variables kept from the CLI: see Config.Billing
	finder finder

	composer *composer
	program  *program
	judge    *judge
	login    *prober
}

// NewProvider makes a Provider for a CLI. A nil cfg means defaults. Nothing is
// looked up or started; a mistake in the spec is reported by Available and by
// every call, as bad_option.
func NewProvider(spec CliSpec, cfg *Config) *Provider {
	p := &Provider{name: spec.Name}
	if cfg != nil {
		p.cfg = *cfg
	}
	p.cfg = p.cfg.withDefaults()
	if p.cfg.MaxParallel > 0 {
		p.own = make(semaphore, p.cfg.MaxParallel)
	}
	if p.broken = spec.Validate(); p.broken == nil {
		p.spec, p.composer = &spec, newComposer(&spec, p.cfg.ModelAliases)
		p.program, p.judge, p.login = compileProgram(spec.Events), newJudge(&spec), newProber(spec.Login)
		p.barred = barred(p.cfg.Billing, spec.Login)
	}
	return p
}

// Name is the spec's name.
func (p *Provider) Name() string { return p.name }

// label puts the provider's name and hint on an error that no run made.
func (p *Provider) label(err *BackendError) {
	if err == nil {
		return
	}
	err.Backend, err.Stage = p.name, StageSkipped
	if p.spec != nil {
		err.Hint = cmp.Or(err.Hint, p.spec.Hints[err.Reason])
	}
}

// Complete runs the CLI for one answer. The error is a [*BackendError].
func (p *Provider) Complete(ctx context.Context, req Request) (*Response, error) {
	return Collect(p.Stream(ctx, req))
}

// Stream runs the CLI and yields what happens, as it happens. Text is delivered
// once: in deltas or as a block. Events of a second try follow those of the
// first and an "attempt" event; after text, only an answer that does not meet
// the request's Schema is followed by one, and a "reset" event comes before it.
func (p *Provider) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return stream(ctx, func(ctx context.Context, emit func(Event)) (*Response, error) { return p.converse(ctx, req, emit) })
}

// try runs the CLI once.
func (p *Provider) try(ctx context.Context, inv *plan, req Request, timeout time.Duration, emit func(Event)) (*Response, verdict) {
	start := time.Now()
	log := p.cfg.Logger.With("backend", p.name)
	log.DebugContext(ctx, "cli start", "path", inv.path, "output", inv.call.output, "transport", inv.call.transport)
	release := p.login.gate(ctx, inv.bill.login, timeout)
	defer release()
	if timeout > 0 {
		timeout = max(timeout-time.Since(start), time.Nanosecond)
	}
	ev, err := p.execute(ctx, inv, timeout, gated(emit, release))
	if err != nil {
		p.label(err)
		log.DebugContext(ctx, "cli not started", "reason", err.Reason)
		return nil, verdict{err: err}
	}
	ev.rawOK, ev.strip = p.cfg.RawOutput, p.cfg.StripFence || len(req.Schema) > 0
	v := p.judge.verdictOf(ev)
	inv.box.explain(v.err, ev, p.spec.Hints)
	log.DebugContext(ctx, "cli end", slog.Duration("duration", time.Since(start)), "exit", ev.result.ExitCode, "reason", reasonOf(v.err))
	ev.secrets.all(ev.tally.warnings)
	if v.err != nil {
		redactError(ev.secrets, v.err)
		v.err.Usage = rebase(p.spec.Sessions, v.err.Usage, req.Session)
		v.err.SideEffects = req.Access >= AccessWrite && ev.tally.tools > 0
		return nil, v
	}
	return p.response(inv, ev, req, v.text, time.Since(start)), v
}

// redactError cleans what an error says; the partial answer is the model's own.
func redactError(r *redactor, err *BackendError) {
	err.Message, err.Stderr, err.Hint = r.clean(err.Message), r.clean(err.Stderr), r.clean(err.Hint)
}

func reasonOf(err *BackendError) Reason {
	if err == nil {
		return ""
	}
	return err.Reason
}

func (p *Provider) response(inv *plan, ev *evidence, req Request, text string, took time.Duration) *Response {
	t := ev.tally
	rules, total := p.spec.Sessions, t.total()
	made := session{p.name, t.session, encodeBase(total, rules.Cumulative), inv.dir}
	if inv.empty || req.Options.NoSessionPersistence {
		made.id = "" // nothing is left to go on from
	}
	return &Response{
		Text: text, Backend: p.name, Provider: p.spec.ProviderSlug,
		Model:   cmp.Or(t.model, inv.call.fields.expand("{model}"), p.spec.DefaultModel),
		Session: made.handle(), KeySource: t.keySource, Billing: inv.bill.payer(t.keySource),
		Usage: rebase(rules, total, req.Session), Duration: took, Warnings: t.warnings, Flags: t.flags, Metadata: req.Metadata,
	}
}
