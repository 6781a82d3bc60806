package provider

import (
	"context"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/reading"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/runs"
)

// Hold starts the CLI in its live mode, in which one process answers many requests. conversation says that the process
// is for one conversation, which then waits for other calls of the same session. permit may be nil.
func (p *Provider) Hold(
	ctx context.Context, req call.Request, permit func(context.Context, call.Question) bool, conversation bool,
) (*held.CLI, error) {
	why := purpose{session: conversation}
	if conversation {
		waiting, cancel := p.queue(ctx)
		release, err := session.Turns.Take(waiting, p.turnOf(req))
		cancel()
		if err != nil {
			return nil, p.notStarted(judge.Ended(ctx, err), "another call goes on from the same session")
		}
		why.leave = release
	}
	return p.hold(ctx, req, permit, why)
}

// purpose says what a process is held for.
type purpose struct {
	session bool   // one conversation
	leave   func() // called after the end of the process; may be nil
}

func (w purpose) release() {
	if w.leave != nil {
		w.leave()
	}
}

func (p *Provider) hold(
	ctx context.Context, req call.Request, permit func(context.Context, call.Question) bool, why purpose,
) (*held.CLI, error) {
	begun := false
	defer func() {
		if !begun {
			why.release()
		}
	}()
	if failed := p.refuseContainer(); failed != nil {
		return nil, failed
	}
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

// refuseContainer refuses to hold a process in a container, where clichain ends all processes after each run.
func (p *Provider) refuseContainer() *call.Error {
	if !p.InContainer() {
		return nil
	}
	return p.Label(call.Errorf(call.ReasonUnsupported, "live", "a CLI in a container answers one request a run"))
}

// withoutPrompt is the request with an empty prompt: only its settings start the process.
func withoutPrompt(req call.Request) call.Request {
	fromUser := func(m call.Message) bool { return m.Role != call.RoleSystem }
	req.Messages = slices.DeleteFunc(slices.Clone(req.Messages), fromUser)
	req.Messages = append(req.Messages, call.Message{Role: call.RoleUser, Content: "-"})
	return req
}

// holding is the plan of a process for package held: how it is started, read and judged.
func (p *Provider) holding(
	ctx context.Context, inv *plan, remove func(), permit func(context.Context, call.Question) bool, why purpose,
) held.Plan {
	program, resumes := p.LiveProgram(), why.session && p.Composer.Resumes(inv.Call)
	return held.Plan{
		Invocation: inv.Invocation, Box: inv.box, Rules: &p.Spec.Live, Remove: remove,
		Command:   proc.Command{Shim: p.Settings.Shim, Cgroup: p.Settings.Cgroup},
		MaxOutput: p.Settings.MaxOutput,
		Timeout:   max(p.Settings.Timeout, 0), First: p.Settings.FirstOutputTimeout, Idle: p.Settings.IdleTimeout,
		Permit: permit,
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
			f.bound = func() bool { return bound(c, r, f.view) }
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
