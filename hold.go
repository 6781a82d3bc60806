package clichain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/reading"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/wire"
	"github.com/clichain/clichain/runs"
	"github.com/tidwall/gjson"
)

func init() {
	held.Hold = func(
		ctx context.Context, provider any, req Request, permit func(context.Context, call.Question) bool, session bool,
	) (*held.CLI, error) {
		p := provider.(*Provider)
		if session {
			return p.holdSession(ctx, req, permit)
		}
		return p.hold(ctx, req, permit, purpose{})
	}
	held.Guard = func(ctx context.Context, provider any, req Request) (*cooling.Entry, error) {
		return provider.(*Provider).guard(ctx, req)
	}
}

// guard is held.Guard of the provider.
func (p *Provider) guard(ctx context.Context, req Request) (*cooling.Entry, error) {
	if p.breaker == nil || p.cfg.Breaker == cooldown.BreakerOff {
		return nil, nil
	}
	entry, refused := p.passBreaker(ctx, sessionCall{cooldownCall{p.name, p, req}}, req)
	if refused != nil {
		return nil, refused
	}
	return entry, nil
}

// sessionCall is the start of a session, which no prompt can make fail.
type sessionCall struct{ cooldownCall }

// Request is none: the process gets a prompt when it runs.
func (sessionCall) Request() *Request { return nil }

// passBreaker begins a call, after a probe where the breaker is in doubt.
func (p *Provider) passBreaker(ctx context.Context, c cooling.Call, req Request) (*cooling.Entry, *BackendError) {
	entry, refused := p.breaker().Enter(ctx, c)
	if refused == nil {
		refused = entry.Confirm(ctx, func() (probed []Attempt, hurried bool, err error) {
			probed, hurried, err = cooling.Probe(ctx, ctx, c, req, func(ctx context.Context, req Request) (*Response, error) {
				return p.converse(ctx, req, func(Event) {})
			})
			return probed, hurried || ctx.Err() != nil, err
		})
	}
	return entry, p.label(refused)
}

// holdSession is held.Hold of the provider, for one conversation.
func (p *Provider) holdSession(
	ctx context.Context, req Request, permit func(context.Context, call.Question) bool,
) (*held.CLI, error) {
	waiting, cancel := p.queue(ctx)
	release, err := session.Turns.Take(waiting, p.turnOf(req))
	cancel()
	if err != nil {
		return nil, p.notStarted(judge.Ended(ctx, err), "another call goes on from the same session")
	}
	return p.hold(ctx, req, permit, purpose{session: true, leave: release})
}

// purpose is what a process is held for.
type purpose struct {
	session bool   // one conversation
	leave   func() // called when the process has gone; may be nil
}

func (w purpose) over() {
	if w.leave != nil {
		w.leave()
	}
}

func (p *Provider) hold(
	ctx context.Context, req Request, permit func(context.Context, call.Question) bool, why purpose,
) (*held.CLI, error) {
	begun := false
	defer func() {
		if !begun {
			why.over()
		}
	}()
	if failed := p.notHere(); failed != nil {
		return nil, failed
	}
	m := mode{output: clispec.OutputLive, asks: permit != nil, talks: why.session}
	inv, failed := p.prepare(ctx, unasked(req), m, true)
	if failed != nil {
		return nil, failed
	}
	defer sweepOrphans()()
	remove, failed := inv.makeFiles()
	if failed != nil {
		remove()
		return nil, p.label(failed)
	}
	if p.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = judge.Within(ctx, p.cfg.Timeout)
		defer cancel()
	}
	begun = true
	cli, failed := held.Start(ctx, p.holding(ctx, inv, remove, permit, why))
	if failed != nil {
		stage := failed.Stage
		p.label(failed).Stage = stage // the process may have run
		return nil, failed
	}
	return cli, nil
}

// notHere refuses to hold a CLI in a container: what it leaves there is ended after each
// run, and a process that is held has many.
func (p *Provider) notHere() *BackendError {
	if p.cfg.Container == nil {
		return nil
	}
	return p.label(call.Errorf(ReasonUnsupported, "live", "a CLI in a container answers one request a run"))
}

// unasked is a request with nothing to say: only its settings start the process.
func unasked(req Request) Request {
	req.Messages = slices.DeleteFunc(slices.Clone(req.Messages), func(m Message) bool { return m.Role != RoleSystem })
	req.Messages = append(req.Messages, Message{Role: RoleUser, Content: "-"})
	return req
}

// holding is how the process of a plan is started, read and judged.
func (p *Provider) holding(
	ctx context.Context, inv *plan, remove func(), permit func(context.Context, call.Question) bool, why purpose,
) held.Plan {
	program, resumes := p.live(), why.session && p.composer.Resumes(inv.Call)
	return held.Plan{
		Invocation: inv.Invocation, Box: inv.box, Rules: &p.spec.Live, Remove: remove,
		Command:   proc.Command{Shim: p.cfg.Shim, Cgroup: p.cfg.Cgroup},
		MaxOutput: p.cfg.MaxOutput,
		Timeout:   max(p.cfg.Timeout, 0), First: p.cfg.FirstOutputTimeout, Idle: p.cfg.IdleTimeout, Permit: permit,
		Enter: func(stop context.CancelCauseFunc) func() {
			ctx, leave := p.cfg.Registry.Enter(ctx, p.name, stop)
			end := runs.Begin(ctx)
			return func() { end(); leave(); why.over() }
		},
		Compose: func(req Request) (*compose.Call, *BackendError) { return p.turn(inv, req) },
		Read: func(c *compose.Call, emit func(Event)) *reading.Reading {
			r := p.reader(ctx, inv.of(c), clispec.OutputStream, emit)
			r.Program = program
			return r
		},
		Watch: func(
			ctx context.Context, c *compose.Call, r *reading.Reading, stop context.CancelCauseFunc,
		) (func(*judge.Sign), func()) {
			f := p.newEarlyEnd(ctx, stop)
			f.bound = func() bool { return bound(c, r, f.view) }
			return f.hear, f.stopTimers
		},
		Judge: func(c *compose.Call, req Request, ev *judge.Evidence, took time.Duration) (*Response, *BackendError) {
			req.Options.NoSessionPersistence = req.Options.NoSessionPersistence || !resumes
			resp, v := p.conclude(ctx, inv.of(c), ev, req, took)
			return resp, v.Err
		},
		Failed: func(err error) *BackendError { return p.notHeld(err) },
	}
}

// live is the program of the events of the live mode, compiled once.
func (p *Provider) live() *decode.Program {
	p.liveOnce.Do(func() {
		p.liveProgram = p.program()
		if events := p.spec.Live.Events; len(events) > 0 {
			p.liveProgram = decode.Compile(events)
		}
	})
	return p.liveProgram
}

// of is the plan of a turn of the process that was started by this one.
func (c *plan) of(turn *compose.Call) *plan {
	inv := *c.Invocation
	inv.Call = turn
	return &plan{&inv, c.bill, c.box, c.known, c.mode}
}

// turn composes a request as a turn of a process. One that would have started another
// process is unsupported.
func (p *Provider) turn(inv *plan, req Request) (*compose.Call, *BackendError) {
	if err := compose.Check(req); err != nil {
		return nil, p.label(err)
	}
	made, _, err := p.compose(inv.Path, req, inv.known, inv.mode)
	if err != nil {
		return nil, p.label(err)
	}
	other := *made
	other.Call = inv.Call
	if !reflect.DeepEqual(&other, inv.Invocation) ||
		!slices.Equal(made.Call.Opening(&p.spec.Live), inv.Call.Opening(&p.spec.Live)) {
		return nil, p.label(call.Errorf(ReasonUnsupported, "live", "the request needs a process with other settings"))
	}
	return made.Call, nil
}

// notHeld is the error of a process that was not started, or refused to begin.
func (p *Provider) notHeld(err error) *BackendError {
	refused, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return p.label(spawnFailure(err))
	}
	said := refused.Message
	for _, path := range []string{"details", "message"} {
		if text := gjson.GetBytes(refused.Data, path); text.Type == gjson.String {
			said += "\n" + text.String()
		}
	}
	ev := &judge.Evidence{
		Output: clispec.OutputText, Tally: new(judge.Tally), Result: proc.Result{ExitCode: 1}, Now: time.Now(),
		Stderr: said, Said: said,
	}
	be := p.unexplained(ev)
	if be.Reason != ReasonExit || !errors.Is(err, held.ErrNotResumed) {
		return be
	}
	be.Reason, be.Message, be.Hint = ReasonBadSession, err.Error(), "ask without the session, or in a call of its own"
	if refused.Code == wire.MethodNotFound {
		be.Reason, be.Option = ReasonUnsupported, "session"
		be.Hint = "the installed version resumes no session in its live mode: update it, or resume the session in a call"
	}
	return be
}

// unexplained is the error of a run that was to give no answer, by its words alone.
func (p *Provider) unexplained(ev *judge.Evidence) *BackendError {
	err := p.judge().Unexplained(ev).Err
	p.judge().Complete(err, ev)
	return err
}

// liveRules are compiled when they are first needed.
type liveRules struct {
	liveOnce    sync.Once
	liveProgram *decode.Program
}

// HoldKey names the kind of process that can answer the request as a turn: requests
// with one key can share a process. It changes with all that the process would be
// started with, the user's login among it. The error is the [*BackendError] of a call
// that would not be started, or unsupported where no process can be held for it. It
// starts nothing.
func (p *Provider) HoldKey(ctx context.Context, req Request) (key string, err error) {
	if failed := p.notHere(); failed != nil {
		return "", failed
	}
	inv, failed := p.prepare(ctx, req, mode{output: clispec.OutputLive, temp: "temp"}, false)
	if failed != nil {
		return "", failed
	}
	h := sha256.New()
	tell(h, p.name, inv.Path, inv.Dir)
	for _, list := range [][]string{inv.Args, inv.Env, inv.Guards, inv.Unwanted, inv.Call.Opening(&p.spec.Live)} {
		tell(h, list...)
		tell(h, "")
	}
	for _, f := range inv.Files {
		tell(h, f.Path, f.Content)
	}
	tell(h, p.login.Mark(login.PlaceOf(inv.Call.Env, inv.Dir)))
	return hex.EncodeToString(h.Sum(nil)), nil
}
