package clichain

import (
	"cmp"
	"context"
	"iter"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/instance"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/machine"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/semaphore"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/sessionfile"
	"github.com/clichain/clichain/internal/skiplist"
)

// Provider runs one CLI. It is safe for concurrent use.
type Provider struct {
	name    string
	given   *CliSpec // nil: the zero Provider, which has none
	cfg     Config
	own     semaphore.Semaphore // nil: no bound
	finder  machine.Finder
	breaker func() *cooling.Keeper // nil: none
	broken  *BackendError          // what is wrong with the settings and, once checked, with the spec

	checked  sync.Once // sets invalid, and broken with it
	invalid  error     // what is wrong with the spec
	compiled sync.Once // sets the rest
	spec     *CliSpec  // nil where it is wrong; what follows is not set then

	files    machine.Installed // of the program
	composer *compose.Composer
	program  func() *decode.Program
	judge    func() *judge.Judge
	liveRules
	login *login.Prober
	pass  *login.PassRules
}

// NewProvider makes a Provider for a CLI. A nil cfg means defaults. Nothing is
// looked up or started, and the spec is checked at the first need, so it must not
// be changed; a mistake in the spec or the settings is reported by
// Validate, Available and every call, as bad_option.
func NewProvider(spec CliSpec, cfg *Config) *Provider {
	p := &Provider{given: new(spec)}
	if cfg != nil {
		p.cfg = *cfg
	}
	p.cfg = p.cfg.withDefaults()
	spec = instance.Named(spec, p.cfg.Name)
	p.name = spec.Name
	skiplist.Know(spec.Name, namesOf(&spec)...)
	if p.cfg.MaxParallel > 0 {
		p.own = make(semaphore.Semaphore, p.cfg.MaxParallel)
	}
	p.breaker = newBreaker(p.cfg.Logger)
	p.broken = oneOf("config", append(p.cfg.mistakes(), p.aliasMistakes()...))
	return p
}

// check looks for mistakes in the spec, once, at the first need.
func (p *Provider) check() (valid bool) {
	p.checked.Do(func() {
		if p.given == nil {
			return
		}
		if p.invalid = p.given.Validate(); p.invalid != nil {
			p.broken = call.ConfigError("spec", p.invalid)
		}
	})
	return p.given != nil && p.invalid == nil
}

// compile makes what a call needs of a spec without mistakes, once, at the first need: a program has backends that it
// never asks. What only the run of a CLI needs waits for that.
func (p *Provider) compile() {
	p.compiled.Do(func() {
		if !p.check() {
			return
		}
		spec := instance.Named(*p.given, p.cfg.Name)
		spec.Hints = instance.Hints(&spec, p.cfg.Env)
		p.spec, p.composer = &spec, compose.New(&spec, p.cfg.ModelAliases)
		p.program = sync.OnceValue(func() *decode.Program { return decode.Compile(spec.Events) })
		p.judge = sync.OnceValue(func() *judge.Judge { return judge.New(&spec) })
		p.login, p.pass = login.New(spec.Login), login.NewPassRules(spec.PassEnvIf)
		p.files.Packages = spec.Packages
	})
}

// Name is Config.Name, or the spec's name.
func (p *Provider) Name() string { return p.name }

// label puts the provider's name and hint on an error that no run made, if there
// is one.
func (p *Provider) label(err *BackendError) *BackendError {
	if err == nil {
		return nil
	}
	err.Backend, err.Stage = p.name, call.StageSkipped
	p.compile()
	if p.spec != nil {
		err.Hint = cmp.Or(err.Hint, p.spec.Hints[err.Reason])
	}
	return err
}

// Complete runs the CLI for one answer. The error is a [*BackendError].
func (p *Provider) Complete(ctx context.Context, req Request) (*Response, error) {
	o := chainview.Of(ctx)
	o.MilestonesOnly = true
	return call.Collect(p.Stream(chainview.With(ctx, o), req))
}

// milestones passes on the events by which a chain knows what was tried, and no other: each takes two goroutines a
// handover.
func milestones(emit func(Event)) func(Event) {
	return func(e Event) {
		if e.Kind == EventStart || e.Kind == EventAttempt {
			emit(e)
		}
	}
}

// Stream runs the CLI and yields what happens, as it happens. Text is delivered
// once: in deltas or as a block. All of it since the last "reset" event, joined, is
// the answer: such an event comes where the CLI begins its answer anew, where the
// text was a remark before the use of a tool, and before the correction of an
// answer that does not meet the request's Schema. Config.KeepCommentary keeps the
// remarks. Events of a second try follow those of the first and an "attempt" event.
func (p *Provider) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return call.Once(func(yield func(Event, error) bool) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		call.Stream(ctx, func(ctx context.Context, emit func(Event)) (*Response, error) {
			ctx, leave := p.cfg.Registry.Enter(ctx, p.name, stop)
			defer leave() // here: the reader may be the one who waits for it
			if chainview.Of(ctx).MilestonesOnly {
				emit = milestones(emit)
			}
			return p.guarded(ctx, req, emit)
		})(yield)
	})
}

// try runs the CLI once.
func (p *Provider) try(
	ctx context.Context, inv *plan, req Request, timeout time.Duration, emit func(Event),
) (*Response, judge.Verdict) {
	start := time.Now()
	log := p.cfg.Logger.With("backend", p.name)
	log.DebugContext(ctx, "cli start", "path", inv.Path, "output", inv.Call.Output, "transport", inv.Call.Transport)
	release := p.login.Gate(ctx, inv.bill.Login, timeout)
	defer release()
	if timeout > 0 {
		timeout = max(timeout-time.Since(start), time.Nanosecond)
	}
	ev, err := p.execute(ctx, inv, timeout, login.Gated(emit, release))
	if err != nil {
		log.DebugContext(ctx, "cli not started", "reason", err.Reason)
		return nil, judge.Verdict{Err: p.label(err)}
	}
	return p.conclude(ctx, inv, ev, req, time.Since(start))
}

// conclude makes the answer, or the error, of a run that has ended.
func (p *Provider) conclude(
	ctx context.Context, inv *plan, ev *judge.Evidence, req Request, took time.Duration,
) (*Response, judge.Verdict) {
	log := p.cfg.Logger.With("backend", p.name)
	ev.RawOK, ev.Redact = p.cfg.RawOutput, p.cfg.RedactAnswers
	ev.Strip = p.cfg.StripFence || len(req.Schema) > 0
	v := p.judge().Verdict(ev)
	if inv.box.Explain(v.Err, ev, p.spec.Hints); inv.box == nil && v.Err != nil {
		v.Err.Hint = cmp.Or(v.Err.Hint, p.homeHint())
	}
	p.hintDrift(v.Err, inv.Call.Version)
	v.Acted = req.Access >= AccessWrite && p.judge().Acted(ev, v.Err)
	ev.Secrets.AllDisguised(ev.Tally.Warnings)
	if v.Err != nil {
		log.DebugContext(ctx, "cli end", "duration", took, "exit", ev.Result.ExitCode, "reason", v.Err.Reason)
		redactError(ev.Secrets, v.Err)
		v.Err.Usage = p.rebase(v.Err.Usage, inv, req, ev.Tally.Session)
		v.Err.SideEffects = v.Acted
		return nil, v
	}
	log.DebugContext(ctx, "cli end", "duration", took, "exit", ev.Result.ExitCode)
	return p.response(inv, ev, req, v.Text, took), v
}

// homeHint names a home in which a CLI can keep nothing: few say so themselves.
func (p *Provider) homeHint() string {
	code, message, hint := machine.HomeProblem(login.PlaceOf(p.Environ(), "").Home)
	if code == "" {
		return ""
	}
	return message + "; " + hint
}

// hintDrift says of a run whose arguments or output were not understood that its CLI is newer than the spec: an update
// of the CLI would not help.
func (p *Provider) hintDrift(err *BackendError, version string) {
	drift := machine.Drift(version, p.spec.CheckedWith)
	if err == nil || drift == "" {
		return
	}
	hint := drift + ": update clichain, or the spec"
	switch err.Reason {
	case ReasonUnsupported:
		err.Hint = hint
	case ReasonExit, ReasonBadOutput:
		err.Hint = cmp.Or(err.Hint, hint)
	}
}

// redactError cleans what an error says; the partial answer is the model's own.
func redactError(r *plaintext.Redactor, err *BackendError) {
	for _, text := range []*string{&err.Message, &err.Stderr, &err.Hint} {
		*text = r.CleanDisguised(*text)
	}
}

func (p *Provider) response(inv *plan, ev *judge.Evidence, req Request, text string, took time.Duration) *Response {
	t := ev.Tally
	rules, total := p.spec.Sessions, t.Total()
	made := session.Handle{Backend: p.name, ID: t.Session}
	if req.Options.NoSessionPersistence || inv.box != nil && inv.Empty && rules.DirBound {
		made.ID = "" // nothing is left to go on from
	}
	resp := &Response{
		Text: text, Backend: p.name, Provider: p.spec.ProviderSlug,
		Model:   cmp.Or(t.Model, inv.Call.Fields.Expand("{model}"), p.spec.DefaultModel),
		Session: made.String(), KeySource: t.KeySource, Billing: inv.bill.Payer(t.KeySource),
		Usage: p.rebase(total, inv, req, t.Session), Duration: took,
		Warnings: append(skiplist.EnvironDoubts(), t.Warnings...), Flags: t.Flags, Metadata: req.Metadata,
		Drift: machine.Drift(inv.Call.Version, p.spec.CheckedWith),
	}
	p.recordSession(resp, session.Record{Dir: inv.Dir, Used: p.usedBy(inv, req, resp, total)})
	return resp
}

// recordSession keeps what is known of the session of an answer. Without it the answer is as good.
func (p *Provider) recordSession(resp *Response, r session.Record) {
	if resp.Session == "" {
		return
	}
	if err := sessionfile.Save(resp.Session, r); err != nil {
		resp.Warnings = append(resp.Warnings,
			"where the session was made, and what it has used, is not recorded: "+err.Error())
	}
}
