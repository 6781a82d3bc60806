package provider

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/reading"
	"github.com/clichain/clichain/internal/wire"
	"github.com/clichain/clichain/runs"
	"github.com/tidwall/gjson"
)

// Hold starts the CLI in its live mode, in which one process answers many requests. conversation means that the
// process serves one conversation; then Hold first waits for other calls of the same session. permit may be
// nil.
func (p *Provider) Hold(
	ctx context.Context, req call.Request, permit func(context.Context, call.Question) bool, conversation bool,
) (*held.CLI, error) {
	why := purpose{session: conversation}
	if conversation {
		release, failed := p.takeTurn(ctx, req)
		if failed != nil {
			return nil, failed
		}
		why.leave = release
	}
	begun := false
	defer func() {
		if !begun {
			why.release()
		}
	}()
	if failed := p.refuseContainer(); failed != nil {
		return nil, failed
	}
	ctx, attach, end, failed := serveTools(ctx, p)
	if failed != nil {
		return nil, failed
	}
	why.attach, why.closeTools = attach, end
	m := mode{output: clispec.OutputLive, asks: permit != nil, talks: why.session}
	inv, failed := p.prepare(ctx, withoutPrompt(req), m, true)
	if failed != nil {
		return nil, failed
	}
	defer sweepOrphans()()
	remove, failed := inv.makeFiles()
	if failed != nil {
		remove()
		return nil, p.Label(failed)
	}
	if p.Settings.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = judge.Within(ctx, p.Settings.Timeout)
		defer cancel()
	}
	begun = true
	cli, failed := held.Start(ctx, p.holding(ctx, inv, remove, permit, why))
	if failed != nil {
		stage := failed.Stage
		p.Label(failed).Stage = stage // the process may have run
		return nil, failed
	}
	return cli, nil
}

// purpose is the purpose of a running process.
type purpose struct {
	session    bool   // one conversation
	leave      func() // called after the end of the process; may be nil
	attach     func(context.Context) (detach func())
	closeTools func() // ends the server of the functions; called after the end of the process; may be nil
}

func (w purpose) release() {
	for _, end := range []func(){w.closeTools, w.leave} {
		if end != nil {
			end()
		}
	}
}

// refuseContainer returns an error for a backend in a container, where clichain ends all processes after each
// run.
func (p *Provider) refuseContainer() *call.Error {
	if !p.InContainer() {
		return nil
	}
	return p.Label(call.Errorf(call.ReasonUnsupported, "live",
		"a CLI in a container cannot stay running between requests"))
}

// withoutPrompt returns the request with an empty prompt, because only its settings affect the start of the
// process.
func withoutPrompt(req call.Request) call.Request {
	notSystem := func(m call.Message) bool { return m.Role != call.RoleSystem }
	req.Messages = slices.DeleteFunc(slices.Clone(req.Messages), notSystem)
	req.Messages = append(req.Messages, call.Message{Role: call.RoleUser, Content: "-"})
	return req
}

// holding returns the plan of a process for package held: how to start, read and judge it.
func (p *Provider) holding(
	ctx context.Context, inv *plan, remove func(), permit func(context.Context, call.Question) bool, why purpose,
) held.Plan {
	program, resumes := p.LiveProgram(), why.session && p.Composer.Resumes(inv.Call)
	return held.Plan{
		Invocation: inv.Invocation, Box: inv.box, Rules: &p.Spec.Live, Remove: remove,
		Command:   proc.Command{Shim: p.Settings.Shim, Cgroup: p.Settings.Cgroup, Rules: inv.confined.rules},
		MaxOutput: p.Settings.MaxOutput, Windows: inv.bill.Payer("") != call.BillingAPIKey,
		Timeout: max(p.Settings.Timeout, 0), First: p.Settings.FirstOutputTimeout, Idle: p.Settings.IdleTimeout,
		Permit: permit, Attach: why.attach,
		Enter: func(stop context.CancelCauseFunc) func() {
			ctx, leave := p.Settings.Registry.Enter(ctx, p.Name, stop)
			end := runs.Begin(ctx)
			return func() { end(); leave(); why.release() }
		},
		Compose: func(req call.Request) (*compose.Call, *call.Error) { return p.turn(inv, req) },
		Read: func(c *compose.Call, emit func(call.Event)) *reading.Reading {
			r := p.reader(ctx, inv.of(c), clispec.OutputStream, emit)
			r.Program = program
			return r
		},
		Watch: func(
			ctx context.Context, c *compose.Call, r *reading.Reading, stop context.CancelCauseFunc,
		) (func(*judge.Sign), func()) {
			f := p.newEarlyEnd(ctx, stop)
			f.bound = func() bool { return inv.mode.tools.HaveActed() || bound(c, r, f.view) }
			return f.hear, f.stopTimers
		},
		Judge: func(c *compose.Call, req call.Request, ev *judge.Evidence, took time.Duration) (*call.Response, *call.Error) {
			req.Options.NoSessionPersistence = req.Options.NoSessionPersistence || !resumes
			o := outcome{p, inv.of(c), req, ev, took}
			resp, v := o.conclude(ctx)
			return resp, v.Err
		},
		Failed: func(err error) *call.Error { return p.notHeld(err) },
	}
}

// turn composes a request as a turn of a process. The error has the reason unsupported if the request needs a
// different process.
func (p *Provider) turn(inv *plan, req call.Request) (*compose.Call, *call.Error) {
	if err := compose.Check(req); err != nil {
		return nil, p.Label(err)
	}
	made, _, err := p.compose(inv.Path, req, inv.known, inv.mode)
	if err != nil {
		return nil, p.Label(err)
	}
	other := *made
	other.Call = inv.Call
	if !reflect.DeepEqual(&other, inv.Invocation) ||
		!slices.Equal(made.Call.Opening(&p.Spec.Live), inv.Call.Opening(&p.Spec.Live)) {
		return nil, p.Label(call.Errorf(call.ReasonUnsupported, "live", "the request needs a process with other settings"))
	}
	return made.Call, nil
}

// notHeld returns the error of a process that did not start, or that refused the live mode.
func (p *Provider) notHeld(err error) *call.Error {
	refused, ok := errors.AsType[*wire.Error](err)
	if !ok {
		return p.Label(backend.SpawnFailure(err))
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
	be := p.Unexplained(ev)
	if be.Reason != call.ReasonExit || !errors.Is(err, held.ErrNotResumed) {
		return be
	}
	be.Reason, be.Message = call.ReasonBadSession, err.Error()
	be.Hint = "send the request without the session, or continue the session in a single call"
	if refused.Code == wire.MethodNotFound {
		be.Reason, be.Option = call.ReasonUnsupported, "session"
		be.Hint = "the installed version cannot resume a session in its live mode; update it, " +
			"or continue the session in a single call"
	}
	return be
}
