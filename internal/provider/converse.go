package provider

import (
	"context"
	"path/filepath"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/policy"
	"github.com/clichain/clichain/internal/semaphore"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/sessionfile"
)

// converse is answer for a request that may continue a session: calls of one session run one after the other.
// If the CLI rejects the session, a new session can replace it. It does for a thread, because the request has all
// messages, and for another session if the settings permit it.
func (p *Provider) converse(ctx context.Context, req call.Request, emit func(call.Event)) (*call.Response, error) {
	whole := req.Messages
	req, resumes, failed := resume(p.Name, req)
	if failed != nil {
		return nil, p.Label(failed)
	}
	release, failed := p.takeTurn(ctx, req)
	if failed != nil {
		return nil, failed
	}
	defer release()
	resp, took, err := p.answer(ctx, req, emit)
	if err == nil || !resumes && !p.Settings.FreshSessionOnReject || req.Options.SessionID != "" {
		return resp, err
	}
	if be := call.AsError(p.Name, err); be.Reason != call.ReasonBadSession || be.SideEffects {
		return resp, err
	}
	rejected := policy.AttemptOf(p.Name, err, took)
	emit(call.Event{Kind: call.EventAttempt, Backend: p.Name, Attempt: &rejected})
	if p.Settings.Timeout > 0 { // both attempts share the timeout
		var cancel context.CancelFunc
		cause := &judge.Stop{Reason: call.ReasonTimeout, After: p.Settings.Timeout}
		ctx, cancel = context.WithTimeoutCause(ctx, p.Settings.Timeout-took, cause)
		defer cancel()
	}
	req = sessionfile.Without(p.Name, req)
	req.Messages = whole
	resp, _, err = p.answer(ctx, req, emit)
	if err != nil {
		be := call.AsError(p.Name, err)
		be.Earlier = append([]call.Attempt{rejected}, be.Earlier...)
		return nil, be
	}
	resp.Attempts = append([]call.Attempt{rejected}, resp.Attempts...)
	resp.Flags = append(resp.Flags, call.FlagFreshSession)
	return resp, nil
}

// resume returns the request for the thread of a backend. resumes reports whether it has one with a session.
func resume(backend string, req call.Request) (_ call.Request, resumes bool, _ *call.Error) {
	if len(req.Threads) == 0 {
		return req, false, nil
	}
	if err := compose.Check(req); err != nil {
		return req, false, err
	}
	req = session.Resume(backend, req)
	return req, req.Session != "", nil
}

// takeTurn waits for the other calls of the session, for at most Config.MaxQueue.
func (p *Provider) takeTurn(ctx context.Context, req call.Request) (release func(), _ *call.Error) {
	waiting, cancel := p.queue(ctx)
	defer cancel()
	release, err := session.Turns.Take(waiting, p.turnOf(req))
	if err != nil {
		return nil, p.notStarted(judge.Ended(ctx, err), "another call continues the same session")
	}
	return release, nil
}

// turnOf returns the ID of the session whose calls run one after the other, or "" for a new session.
func (p *Provider) turnOf(req call.Request) string {
	if req.Options.Continue {
		dir, _ := filepath.Abs(req.Dir)
		return "newest of " + p.Name + " in " + dir
	}
	h, _ := session.Parse(req.Session)
	return h.String()
}

// slot waits for a slot of the backend, then for a shared slot. The deadline of the context and Config.MaxQueue
// limit the wait; the timeout of the attempt does not include it.
func (p *Provider) slot(ctx context.Context) (release func(), failure *call.Error) {
	ctx, cancel := p.queue(ctx)
	defer cancel()
	own, err := p.slots.Acquire(ctx)
	if err != nil {
		return nil, p.notStarted(judge.Ended(ctx, err), "no slot was free in time")
	}
	shared, err := semaphore.Semaphore(p.Settings.Slots).Acquire(ctx)
	if err != nil {
		own()
		return nil, p.notStarted(judge.Ended(ctx, err), "no slot was free in time")
	}
	return func() { shared(); own() }, nil
}

// queue limits a wait to Config.MaxQueue.
func (p *Provider) queue(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.Settings.MaxQueue <= 0 {
		return ctx, func() {}
	}
	return judge.Within(ctx, p.Settings.MaxQueue)
}

// notStarted returns the error of a call whose time ended before its CLI started.
func (p *Provider) notStarted(cause error, message string) *call.Error {
	reason := judge.ReasonOfCause(cause)
	if reason == call.ReasonTimeout {
		reason = call.ReasonBudgetSpent // of the chain: nothing was started
	}
	err := &call.Error{Reason: reason, Message: message, ExitCode: -1, Err: cause}
	return p.Label(err)
}
