package clichain

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
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
	spec   *compiledSpec
	broken error // what is wrong with the spec; spec is nil then
	cfg    Config
	finder finder
	own    *Slots // nil: no bound
	login  *loginSense
	barred []string // variables kept from the CLI: see Config.Billing
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
		p.own = NewSlots(p.cfg.MaxParallel)
	}
	if p.spec, p.broken = compileSpec(spec); p.spec != nil {
		p.spec.models.pin(p.cfg.ModelAliases)
		p.login = newLoginSense(p.spec.Login)
		p.barred = p.cfg.Billing.barred(p.spec.Login)
	}
	return p
}

// Name is the spec's name.
func (p *Provider) Name() string { return p.name }

// Available returns nil, or the [*BackendError] a call would be skipped with:
// the spec is invalid, the backend is suppressed, its program is not
// installed, it is known to be logged out, or Config.Sandbox or Config.Billing
// is against it. It starts nothing and takes microseconds.
func (p *Provider) Available(context.Context) error {
	path, err := p.ready()
	if err == nil {
		_, err = p.admit(path, Request{}, p.cfg.Output)
	}
	if err != nil {
		return err
	}
	return nil
}

// ready finds the program to run.
func (p *Provider) ready() (path string, err *BackendError) {
	defer func() { p.sign(err) }()
	if p.broken != nil {
		err = badOption("spec", "is invalid")
		err.Message, err.Err = p.broken.Error(), p.broken
		return "", err
	}
	if err := checkSuppressed(&p.spec.CliSpec); err != nil {
		return "", err
	}
	if err := p.cfg.Container.check(); err != nil {
		return "", err
	}
	path, err = p.finder.find(p.programs())
	if err != nil {
		err = p.cfg.Container.missing(err)
	}
	return path, err
}

// sign puts the provider's name and hint on an error that no run made.
func (p *Provider) sign(err *BackendError) {
	if err == nil {
		return
	}
	err.Backend, err.unstarted = p.name, true
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

// prepare does everything that comes before the process. Without an output
// mode it takes the best there is.
func (p *Provider) prepare(req Request, output OutputMode) (*invocation, *BackendError) {
	path, err := p.ready()
	if err != nil {
		return nil, err
	}
	b, err := p.admit(path, req, output)
	if err != nil {
		return nil, err
	}
	inv, err := p.compose(path, req, output)
	if inv != nil {
		inv.bill = b
	}
	p.sign(err)
	return inv, err
}

func (p *Provider) compose(path string, req Request, output OutputMode) (*invocation, *BackendError) {
	if err := checkRequest(req); err != nil {
		return nil, err
	}
	dir, err := p.cfg.Container.workDir(req.dirFor())
	if err != nil && req.Dir == "" && req.Session != "" {
		err = badSession("the directory it was made in is gone: %s", err.Message)
	}
	if err != nil {
		return nil, err
	}
	if p.cfg.Container == nil {
		if req.Options, err = req.Options.onThisMachine(); err != nil {
			return nil, err
		}
	}
	h := p.host(path)
	if err := p.spec.nested(p.cfg.Nested, h.environ); err != nil {
		return nil, err
	}
	h.dir, h.tempDir = dir, p.cfg.Container.tempDir()
	return compose(p.spec, req, wish{output: output, transport: p.cfg.Transport}, h)
}

// host is what this machine is to the CLI.
func (p *Provider) host(path string) host {
	return host{
		path: path, environ: withoutEnv(os.Environ(), p.barred), passEnv: p.cfg.PassEnv, inheritEnv: p.cfg.InheritEnv, env: withoutEnv(p.cfg.Env, p.barred),
		root: os.Geteuid() == 0, container: p.cfg.Container, names: p.cliNames(),
	}
}

// workDir makes the directory absolute and checks that it is one.
func workDir(dir string) (string, *BackendError) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", badOption("dir", "%q: %v", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", badOption("dir", "%v", err)
	case !info.IsDir():
		return "", badOption("dir", "%q is no directory", dir)
	}
	return abs, nil
}

// try runs the CLI once.
func (p *Provider) try(ctx context.Context, inv *invocation, req Request, timeout time.Duration, emit func(Event)) (*Response, *BackendError) {
	start := time.Now()
	log := p.cfg.Logger.With("backend", p.name)
	log.DebugContext(ctx, "cli start", "path", inv.path, "output", inv.call.output, "transport", inv.call.transport)
	release := p.gate(ctx, inv.bill.login, timeout)
	defer release()
	if timeout > 0 {
		timeout = max(timeout-time.Since(start), time.Nanosecond)
	}
	ev, err := p.execute(ctx, inv, timeout, gated(emit, release))
	if err != nil {
		p.sign(err)
		log.DebugContext(ctx, "cli not started", "reason", err.Reason)
		return nil, err
	}
	ev.rawOK, ev.strip = p.cfg.RawOutput, p.cfg.StripFence || len(req.Schema) > 0
	text, err := p.spec.verdictOf(ev)
	inv.box.explain(err, ev, p.spec)
	log.DebugContext(ctx, "cli end", slog.Duration("duration", time.Since(start)), "exit", ev.result.ExitCode, "reason", reasonOf(err))
	ev.secrets.all(ev.tally.warnings)
	if err != nil {
		ev.secrets.error(err)
		err.Usage = p.spec.Sessions.rebase(err.Usage, req)
		err.SideEffects = req.Access >= AccessWrite && ev.tally.tools > 0
		return nil, err
	}
	return p.response(inv, ev, req, text, time.Since(start)), nil
}

func reasonOf(err *BackendError) Reason {
	if err == nil {
		return ""
	}
	return err.Reason
}

func (p *Provider) response(inv *invocation, ev *evidence, req Request, text string, took time.Duration) *Response {
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
		Usage: rules.rebase(total, req), Duration: took, Warnings: t.warnings, Flags: t.flags, Metadata: req.Metadata,
	}
}
