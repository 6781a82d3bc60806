package clichain

import (
	"context"
	"os"
	"path/filepath"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/policy"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/sessionfile"
)

// converse is answer for a request that may go on from a session: one such
// call at a time, and, where that is wanted, a new session in place of one that
// is not accepted.
func (p *Provider) converse(ctx context.Context, req Request, emit func(Event)) (*Response, error) {
	waiting, cancel := p.queue(ctx)
	release, err := session.Turns.Take(waiting, p.turnOf(req))
	cancel()
	if err != nil {
		return nil, p.notStarted(judge.Ended(ctx, err), "another call goes on from the same session")
	}
	defer release()
	resp, took, err := p.answer(ctx, req, emit)
	if !p.cfg.FreshSessionOnReject || req.Options.SessionID != "" || err == nil ||
		call.AsError(p.name, err).Reason != ReasonBadSession {
		return resp, err
	}
	rejected := policy.AttemptOf(p.name, err, took)
	emit(Event{Kind: EventAttempt, Backend: p.name, Attempt: &rejected})
	if p.cfg.Timeout > 0 { // both share it
		var cancel context.CancelFunc
		cause := &judge.Stop{Reason: ReasonTimeout, After: p.cfg.Timeout}
		ctx, cancel = context.WithTimeoutCause(ctx, p.cfg.Timeout-took, cause)
		defer cancel()
	}
	resp, _, err = p.answer(ctx, p.afresh(req), emit)
	if err != nil {
		be := call.AsError(p.name, err)
		be.Earlier = append([]Attempt{rejected}, be.Earlier...)
		return nil, be
	}
	resp.Attempts = append([]Attempt{rejected}, resp.Attempts...)
	resp.Flags = append(resp.Flags, call.FlagFreshSession)
	return resp, nil
}

// turnOf names the session that calls continue one after the other; "" for a new one.
func (p *Provider) turnOf(req Request) string {
	if req.Options.Continue {
		dir, _ := filepath.Abs(req.Dir)
		return "newest of " + p.name + " in " + dir
	}
	h, _ := session.Parse(req.Session)
	return h.String()
}

// knownOf is what this user knows of the session, if it is one of that backend.
func knownOf(backend string, req Request) *session.Record {
	h, _ := session.Parse(req.Session)
	if h.Backend != backend {
		return nil
	}
	return sessionfile.Load(h.String())
}

// rebase is a run's own part of the usage that a CLI adds up over a session. Which one it continued is known only now
// where that was the newest.
func (p *Provider) rebase(u Usage, inv *plan, req Request, id string) Usage {
	switch {
	case req.Options.Continue:
		return session.Rebase(p.spec.Sessions, u, sessionfile.Load(session.Handle{Backend: p.name, ID: id}.String()))
	case req.Session != "" && !p.countsTurns(inv):
		return session.Rebase(p.spec.Sessions, u, inv.known)
	}
	return u
}

// countsTurns reports whether the CLI counts each turn of its live mode by itself, and not what a session has used.
func (p *Provider) countsTurns(inv *plan) bool {
	return inv.mode.output == clispec.OutputLive && len(p.spec.Live.Cumulative) == 0
}

// usedBy is what a session has used, after a run that counted total; nil: unknown.
func (p *Provider) usedBy(inv *plan, req Request, resp *Response, total Usage) *Usage {
	used := session.Used(p.spec.Sessions, total)
	if used == nil || !p.countsTurns(inv) {
		return used
	}
	switch known := sessionfile.Load(resp.Session); {
	case known == nil && req.Session == "": // the first turn of a new one
		return used
	case known == nil || known.Used == nil:
		return nil
	default:
		return new(known.Used.Add(*used))
	}
}

// dirOf is the directory that the request names, or that in which its session was made, as far as this user knows.
func dirOf(backend string, req Request) string { return session.Dir(req, knownOf(backend, req)) }

// afresh is the request without its session, in the session's directory as
// long as that is there.
func (p *Provider) afresh(req Request) Request {
	dir := dirOf(p.name, req)
	if _, err := os.Stat(dir); err != nil || req.Access == AccessNone {
		dir = req.Dir
	}
	req.Session, req.Options.Continue, req.Dir = "", false, dir
	return req
}
