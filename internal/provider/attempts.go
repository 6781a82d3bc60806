package provider

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/policy"
	"github.com/clichain/clichain/internal/reading"
	"github.com/clichain/clichain/internal/session"
	"github.com/clichain/clichain/internal/structured"
	"github.com/clichain/clichain/internal/transcript"
)

// retryDelay is the pause before the second attempt.
const retryDelay = 500 * time.Millisecond

// answer runs the CLI. It runs the CLI again after a transient failure, in a simpler mode if the stream broke
// off, and after an answer that does not match the schema. All attempts share the timeout. took is the time of
// the attempts, without the wait for a slot.
func (p *Provider) answer(
	ctx context.Context, req call.Request, emit func(call.Event),
) (resp *call.Response, took time.Duration, _ error) {
	schema, err := structured.Compile(req.Schema)
	if err != nil {
		return nil, 0, p.Label(err)
	}
	began := time.Now()
	ctx, attach, end, err := serveTools(ctx, p)
	defer end()
	if err != nil {
		return nil, 0, err
	}
	defer attach(ctx)()
	inv, err := p.prepare(ctx, req, mode{output: p.Settings.Output}, true)
	if err != nil {
		return nil, 0, err
	}
	prepared := time.Since(began) // the status command of the CLI may have run
	release, err := p.slot(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer release()
	t := attemptLoop{p: p, req: req, inv: inv, start: time.Now().Add(-prepared)}
	t.structure.schema = schema
	t.said = &reading.Said{KeepCommentary: p.Settings.KeepCommentary, Answer: p.Spec.Answer}
	t.emit = func(e call.Event) { t.said.See(e); emit(e) }
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(retryDelay), backoff.WithMaxElapsedTime(0))
	once := backoff.WithContext(backoff.WithMaxRetries(pause, 1), ctx)
	if backoff.Retry(func() error { return t.next(ctx) }, once) == nil {
		for _, e := range t.said.Missing(t.resp.Text) {
			e.Backend = p.Name
			t.emit(e)
		}
		t.resp.Attempts = t.earlier
		if report := chainview.Of(ctx).NoTool; report != nil && !t.structure.acted {
			report()
		}
		return t.resp, time.Since(t.start), nil
	}
	t.err.Earlier = t.earlier
	return nil, time.Since(t.start), t.err
}

// attemptLoop contains the state of the attempts of one call.
type attemptLoop struct {
	p         *Provider
	req       call.Request
	inv       *plan
	emit      func(call.Event)
	said      *reading.Said
	start     time.Time
	structure structure

	resp     *call.Response
	err      *call.Error   // of the last attempt
	brokeOff bool          // the stream of the last attempt broke off
	took     time.Duration // duration of the last attempt
	earlier  []call.Attempt
}

// next makes one attempt, followed by one more if the answer needs a correction. A permanent error ends the
// loop.
func (t *attemptLoop) next(ctx context.Context) error {
	broke := t.err != nil && t.brokeOff
	if t.err != nil {
		t.record()
		t.askAgain(ctx)
	}
	t.run(ctx)
	if t.repair(ctx) {
		t.record()
		t.emit(call.Event{Kind: call.EventReset, Backend: t.p.Name, Message: "the answer did not meet the schema"})
		t.run(ctx)
	}
	switch {
	case t.err == nil && broke:
		t.resp.Flags = append(t.resp.Flags, call.FlagStreamFallback)
		return nil
	case t.err == nil:
		return nil
	case t.mayRetry(ctx):
		return t.err
	}
	return backoff.Permanent(t.err)
}

// askAgain prepares the second attempt in a session that holds the messages of the first, so that they do not reach the
// model twice.
func (t *attemptLoop) askAgain(ctx context.Context) {
	if t.req.Session == "" || t.err.Session != t.req.Session {
		return
	}
	req := session.Retold(t.req, t.req.Session, transcript.Again)
	if inv, err := t.p.prepare(ctx, req, mode{output: t.inv.mode.output, after: t.inv.mode.after}, true); err == nil {
		t.req, t.inv = req, inv
	}
}

// record reports a failed attempt that is followed by another one.
func (t *attemptLoop) record() {
	failed := policy.AttemptOf(t.p.Name, t.err, t.took)
	t.earlier = append(t.earlier, failed)
	t.emit(call.Event{Kind: call.EventAttempt, Backend: t.p.Name, Attempt: &failed})
}

// run runs the CLI once.
func (t *attemptLoop) run(ctx context.Context) {
	began := time.Now()
	resp, v := t.p.attempt(ctx, t.inv, t.req, t.remaining(), t.emit)
	t.resp, t.err, t.brokeOff = resp, v.Err, v.BrokeOff
	t.structure.acted = t.structure.acted || v.Acted
	if t.err == nil {
		t.err = t.structure.check(t.resp)
		if t.structure.problem != "" {
			chainview.MisfitsOf(ctx).Add()
		}
	}
	t.took = time.Since(began)
}

// mayRetry reports whether a second attempt may succeed. The failure must be transient or affect only the
// stream, and nothing may have been changed. The session must have no fixed ID, because the first attempt has
// used that ID. There must be time for an attempt as long as the first.
func (t *attemptLoop) mayRetry(ctx context.Context) bool {
	if t.err.SideEffects || t.err.Partial != "" || errors.Is(t.err.Err, judge.ErrMovedOn) ||
		t.req.Options.SessionID != "" || !t.timeFor(2*retryDelay+t.took) {
		return false
	}
	return policy.Default[t.err.Reason].Again || t.brokeOff && t.simplify(ctx)
}

// simplify switches to the best output mode that is read at the end of a run. With write access, that mode must
// show tool use, because after unseen tool use no other backend could take over.
func (t *attemptLoop) simplify(ctx context.Context) bool {
	i := slices.IndexFunc(t.p.Spec.Outputs, func(o clispec.OutputMode) bool {
		return o != clispec.OutputStream &&
			(t.req.Access < call.AccessWrite || t.p.Spec.ToolEventsIn(o) != clispec.ToolsNever)
	})
	if i < 0 || t.p.Settings.Output != "" {
		return false
	}
	inv, err := t.p.prepare(ctx, t.req, mode{output: t.p.Spec.Outputs[i], after: true}, true)
	if err != nil {
		return false
	}
	t.inv = inv
	return true
}

// timeFor reports whether more than d is left of the timeout.
func (t *attemptLoop) timeFor(d time.Duration) bool {
	return t.p.Settings.Timeout < 0 || t.remaining() > d
}

// remaining returns the rest of the timeout; 0 means no timeout.
func (t *attemptLoop) remaining() time.Duration {
	if t.p.Settings.Timeout < 0 {
		return 0
	}
	return max(t.p.Settings.Timeout-time.Since(t.start), time.Nanosecond)
}

// structure is the state of a call with a Request.Schema.
type structure struct {
	schema   *structured.Schema // nil: free text
	acted    bool               // a tool may have changed something
	problem  string             // with the last answer; empty: none
	repaired bool               // the model has been asked for a correction
}

// check replaces the text of an answer with its JSON, or returns why the answer does not match the schema.
func (s *structure) check(resp *call.Response) *call.Error {
	var failed *call.Error
	if s.problem, failed = s.schema.Hold(resp); failed != nil {
		failed.SideEffects, failed.Confined, failed.Session = s.acted, resp.Confined, resp.Session
		return failed
	}
	if s.repaired {
		structured.Repaired(resp)
	}
	return nil
}

// repair prepares the attempt that asks for a correction. It prepares at most one, and none after a tool that
// may have changed something, or without enough time for a whole attempt.
func (t *attemptLoop) repair(ctx context.Context) bool {
	if t.err == nil || t.structure.problem == "" || t.structure.repaired || t.err.SideEffects || !t.timeFor(t.took) ||
		chainview.MisfitsOf(ctx).Spent() {
		return false
	}
	req, complaint := t.req, structured.Complaint(t.structure.problem)
	if o := &req.Options; req.Session != "" || o.SessionID != "" || o.Continue { // the CLI has added to the session
		req = session.Retold(req, cmp.Or(t.resp.Session, req.Session), complaint)
		req.Options.SessionID, req.Options.Continue = "", false
	} else {
		req.Messages = append(slices.Clone(req.Messages),
			call.Message{Role: call.RoleAssistant, Content: t.err.Partial},
			call.Message{Role: call.RoleUser, Content: complaint})
	}
	inv, err := t.p.prepare(ctx, req, mode{output: t.inv.Call.Output}, true)
	if err != nil {
		return false
	}
	t.req, t.inv, t.structure.repaired = req, inv, true
	return true
}
