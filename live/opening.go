package live

import (
	"context"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/policy"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/sessionfile"
	"github.com/clichain/clichain/internal/structured"
)

// opening is the conversation from which a session starts. One goroutine uses it at a time: Start, then run.
type opening struct {
	request  clichain.Request   // the settings, and the messages and threads until the CLI has them
	threads  []call.Thread      // until the first answer
	rejected []clichain.Attempt // to resume the thread of the backend
	values   context.Context    // of Start, for a process that replaces the first one
}

// with returns the request for the answer to a text, for any backend.
func (o *opening) with(text string) clichain.Request {
	req, asked := o.request, clichain.Message{Role: clichain.RoleUser, Content: text}
	if n := len(req.Messages); n == 0 || req.Messages[n-1] != asked {
		req.Messages = append(slices.Clone(req.Messages), asked)
	}
	return req
}

// asked records the outcome of a turn. The CLI keeps the messages of a turn that it received, also if the turn failed.
func (o *opening) asked(t *Turn, resp *clichain.Response, failed *clichain.BackendError) {
	switch {
	case failed == nil:
		session.MarkHandover(resp, clichain.Request{Threads: o.threads})
		o.threads = nil
		if len(o.rejected) > 0 {
			resp.Attempts = slices.Concat(o.rejected, resp.Attempts)
			resp.Flags = append(slices.Clip(resp.Flags), call.FlagFreshSession)
		}
	case failed.Stage == call.StageSkipped:
		return
	default:
		failed.Earlier = slices.Concat(o.rejected, failed.Earlier)
	}
	o.rejected, o.request = nil, t.req
	o.request.Messages = slices.DeleteFunc(slices.Clone(t.req.Messages), notSystem)
}

func notSystem(m clichain.Message) bool { return m.Role != clichain.RoleSystem }

// refused returns the mistake in the settings of all turns, or nil. It compiles the schema.
func (s *Session) refused() error {
	if err := session.CheckThreads(s.cfg.Request); err != nil {
		return err
	}
	if err := compose.Check(s.lacks.with("-")); err != nil {
		return err
	}
	schema, failed := structured.Compile(s.cfg.Request.Schema)
	if failed != nil {
		return failed
	}
	s.schema = schema
	return nil
}

// hold starts the CLI, unless the breaker is open. A successful start does not close the entry, because a CLI
// that starts may still fail at every request.
func (s *Session) hold(ctx context.Context) (*held.CLI, error) {
	if err := s.refused(); err != nil {
		return nil, err
	}
	entry, err := held.Guard(ctx, s.provider, s.cfg.Request)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	for _, a := range entry.Probed() {
		s.usage = s.usage.Add(a.Usage)
	}
	s.mu.Unlock()
	began := time.Now()
	cli, err := s.process(ctx)
	if err != nil && s.forgets(err, time.Since(began)) {
		cli, err = s.process(ctx)
	}
	if err != nil {
		entry.Ended(ctx, err, ctx.Err() != nil)
		return nil, err
	}
	s.entry = entry
	return cli, nil
}

// process starts the CLI, with the thread of the backend if there is one. It then knows the functions of the session.
func (s *Session) process(ctx context.Context) (*held.CLI, error) {
	ctx, end, failed := s.offer(ctx)
	if failed != nil {
		return nil, failed
	}
	defer func() { _ = end() }() // no function has run
	return held.Hold(ctx, s.provider, session.Resume(s.provider.Name(), s.lacks.request), s.cfg.OnPermission, true)
}

// while returns ctx, which also ends with the session.
func (s *Session) while(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })
	return ctx
}

// forgets removes the thread of the backend if err means that the CLI does not resume it. It reports whether it did.
func (s *Session) forgets(err error, took time.Duration) bool {
	name := s.provider.Name()
	be := call.AsError(name, err)
	resumes := len(s.lacks.request.Threads) > 0 && session.Of(name, s.lacks.request) != ""
	notResumed := be.Reason == clichain.ReasonBadSession ||
		be.Reason == clichain.ReasonUnsupported && be.Option == "session"
	if !resumes || !notResumed || be.SideEffects {
		return false
	}
	s.lacks.rejected = append(s.lacks.rejected, policy.AttemptOf(name, err, took))
	s.lacks.request = sessionfile.Without(name, s.lacks.request)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = ""
	return true
}

// answer asks the CLI. Some CLIs reject a session only in the first turn. A new process, without the thread, replaces
// such a CLI.
func (s *Session) answer(cli *held.CLI, t *Turn) (*held.CLI, *clichain.Response, *clichain.BackendError) {
	began := time.Now()
	resp, failed := s.ask(cli, t)
	if failed == nil || !s.forgets(failed, time.Since(began)) {
		return cli, resp, failed
	}
	cli.Kill(failed)
	rejected := s.lacks.rejected[0]
	s.emit(t.ctx, t, clichain.Event{Kind: clichain.EventAttempt, Backend: rejected.Backend, Attempt: &rejected})
	t.see(clichain.Event{Kind: clichain.EventStart, Backend: rejected.Backend})
	next, err := s.process(turnContext{t.ctx, s.lacks.values})
	if err != nil {
		return cli, nil, call.AsError(rejected.Backend, err)
	}
	if !s.replace(next) {
		next.Kill(ErrStopped)
	}
	t.req = session.Resume(rejected.Backend, s.lacks.with(t.text))
	resp, failed = s.ask(next, t)
	return next, resp, failed
}

// replace makes a process that of the session, unless the session ends.
func (s *Session) replace(next *held.CLI) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == Stopping {
		return false
	}
	s.cli = next
	return true
}
