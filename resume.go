package clichain

import (
	"context"
	"os"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/session"
)

// converse is answer for a request that may go on from a session: one such
// call at a time, and, where that is wanted, a new session in place of one that
// is not accepted.
func (p *Provider) converse(ctx context.Context, req Request, emit func(Event)) (*Response, error) {
	release, err := session.Turns.Take(ctx, req.Session)
	if err != nil {
		return nil, p.notStarted(err, "another call goes on from the same session")
	}
	defer release()
	start := time.Now()
	resp, err := p.answer(ctx, req, emit)
	if !p.cfg.FreshSessionOnReject || err == nil || call.AsError(p.name, err).Reason != ReasonBadSession {
		return resp, err
	}
	rejected := attemptOf(p.name, err, time.Since(start))
	emit(Event{Kind: EventAttempt, Backend: p.name, Attempt: &rejected})
	if p.cfg.Timeout > 0 { // both share it
		var cancel context.CancelFunc
		cause := &judge.Stop{Reason: ReasonTimeout, After: p.cfg.Timeout}
		ctx, cancel = context.WithTimeoutCause(ctx, p.cfg.Timeout-time.Since(start), cause)
		defer cancel()
	}
	resp, err = p.answer(ctx, afresh(req), emit)
	if err != nil {
		be := call.AsError(p.name, err)
		be.Earlier = append([]Attempt{rejected}, be.Earlier...)
		return nil, be
	}
	resp.Attempts = append([]Attempt{rejected}, resp.Attempts...)
	resp.Flags = append(resp.Flags, call.FlagFreshSession)
	return resp, nil
}

// afresh is the request without its session, in the session's directory as
// long as that is there.
func afresh(req Request) Request {
	dir := session.Dir(req)
	if _, err := os.Stat(dir); err != nil || req.Access == AccessNone {
		dir = req.Dir
	}
	req.Session, req.Dir = "", dir
	return req
}
