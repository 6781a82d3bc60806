package live

import (
	"context"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/reading"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/structured"
)

// structuredTurn is a turn of a session whose answers must match a schema.
type structuredTurn struct {
	session *Session
	cli     *held.CLI
	turn    *Turn
	ctx     context.Context
	req     clichain.Request
	said    reading.Said
	acted   bool // a tool may have changed something
}

// reply sends the request to the CLI. If the answer does not match the schema, it asks once more in the same
// conversation, within the time of one turn, unless a tool may have changed something.
func (s *Session) reply(
	ctx context.Context, cli *held.CLI, turn *Turn,
) (*clichain.Response, *clichain.BackendError) {
	if s.schema == nil {
		return cli.Ask(ctx, turn.req, func(e clichain.Event) { s.emit(ctx, turn, e) })
	}
	began := time.Now()
	if limit := s.provider.Config().Timeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = judge.Within(ctx, limit)
		defer cancel()
	}
	t := &structuredTurn{session: s, cli: cli, turn: turn, ctx: ctx, req: turn.req}
	t.said.KeepCommentary, t.said.Answer = s.provider.Config().KeepCommentary, s.provider.Spec().Answer
	resp, problem, failed := t.once()
	if problem != "" && !failed.SideEffects && t.timeFor(time.Since(began)) {
		resp, failed = t.again(problem, failed, time.Since(began))
	}
	if failed != nil {
		return nil, failed
	}
	for _, e := range t.said.Missing(resp.Text) {
		t.emit(e)
	}
	resp.Duration = time.Since(began)
	return resp, nil
}

// once sends the request and validates the answer.
func (t *structuredTurn) once() (resp *clichain.Response, problem string, failed *clichain.BackendError) {
	resp, failed = t.cli.Ask(t.ctx, t.req, t.emit)
	if failed != nil {
		return nil, "", failed
	}
	if problem, failed = t.session.schema.Hold(resp); failed != nil {
		failed.SideEffects = t.acted || call.HostToolsOf(t.ctx).HaveActed()
	}
	return resp, problem, failed
}

// again asks for a correction of an answer that took the time took.
func (t *structuredTurn) again(
	problem string, first *clichain.BackendError, took time.Duration,
) (*clichain.Response, *clichain.BackendError) {
	earlier := clichain.Attempt{
		Backend: first.Backend, Reason: first.Reason, Duration: took, Usage: first.Usage, Err: first,
	}
	t.emit(clichain.Event{Kind: clichain.EventAttempt, Attempt: &earlier})
	t.emit(clichain.Event{Kind: clichain.EventReset, Message: "the answer did not meet the schema"})
	t.turn.see(clichain.Event{Kind: clichain.EventStart, Backend: t.session.provider.Name()})
	t.req = session.Retold(t.req, t.req.Session, structured.Complaint(problem))
	resp, _, failed := t.once()
	if failed != nil {
		failed.Earlier = append([]clichain.Attempt{earlier}, failed.Earlier...)
		return nil, failed
	}
	structured.Repaired(resp)
	resp.Attempts = []clichain.Attempt{earlier}
	return resp, nil
}

// emit delivers an event to the readers of the session.
func (t *structuredTurn) emit(e clichain.Event) {
	t.acted = t.acted || e.Kind == clichain.EventToolUse && t.req.Access >= clichain.AccessWrite
	t.said.See(e)
	e.Backend = t.session.provider.Name()
	t.session.emit(t.ctx, t.turn, e)
}

// timeFor reports whether the turn has more than the time d left.
func (t *structuredTurn) timeFor(d time.Duration) bool {
	deadline, ok := t.ctx.Deadline()
	return t.ctx.Err() == nil && (!ok || time.Until(deadline) > d)
}
