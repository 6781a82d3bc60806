package provider

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/reading"
	"github.com/clichain/clichain/runs"
)

// attempt runs the CLI once.
func (p *Provider) attempt(
	ctx context.Context, inv *plan, req call.Request, timeout time.Duration, emit func(call.Event),
) (*call.Response, judge.Verdict) {
	start := time.Now()
	log := p.Settings.Logger.With("backend", p.Name)
	log.DebugContext(ctx, "cli start", "path", inv.Path, "output", inv.Call.Output, "transport", inv.Call.Transport)
	release := p.Login.Gate(ctx, inv.bill.Login, timeout)
	defer release()
	if timeout > 0 {
		timeout = max(timeout-time.Since(start), time.Nanosecond)
	}
	ev, err := p.execute(ctx, inv, timeout, login.Gated(emit, release))
	if err != nil {
		log.DebugContext(ctx, "cli not started", "reason", err.Reason)
		return nil, judge.Verdict{Err: p.Label(err)}
	}
	o := outcome{p, inv, req, ev, time.Since(start)}
	return o.conclude(ctx)
}

// run is one process and its reader.
type run struct {
	plan    *plan
	spec    *clispec.Spec
	stop    context.CancelCauseFunc
	reading *reading.Reading
	*earlyEnd
}

// execute runs a plan to its end and returns the evidence. It leaves no process and no file behind. It returns
// an error only if nothing was started.
func (p *Provider) execute(
	ctx context.Context, c *plan, timeout time.Duration, emit func(call.Event),
) (*judge.Evidence, *call.Error) {
	defer sweepOrphans()()
	remove, err := c.makeFiles()
	defer remove()
	if err != nil {
		return nil, err
	}
	caller := ctx
	ctx, stop, kill := limited(ctx, timeout)
	defer stop(nil)
	defer runs.Begin(ctx)()
	r := p.newRun(ctx, c, stop, emit)
	quiet := reading.Listen(p.Settings.FirstOutputTimeout, p.Settings.IdleTimeout, stop)
	defer quiet.End()
	emit(call.Event{Kind: call.EventStart, Backend: p.Name})
	stdout, stderr := r.reading.Streams()
	result, left, spawnErr := c.box.Supervise(ctx, proc.Command{
		Path: c.Path, Args: append([]string{c.Path}, c.Args...), Env: c.Env, Dir: c.Dir, Stdin: c.Stdin,
		Stdout: quiet.Over(stdout), Stderr: quiet.Over(stderr),
		Limit: p.Settings.MaxOutput, Shim: p.Settings.Shim, Cgroup: p.Settings.Cgroup, KillAt: kill, Rules: c.confined.rules,
	})
	r.stopTimers()
	if spawnErr != nil {
		return nil, backend.SpawnFailure(judge.Ended(caller, spawnErr))
	}
	result.Cause = judge.Ended(caller, result.Cause)
	if !result.DrainCut { // otherwise a reader may still be running
		_, _ = stdout.Close(), stderr.Close() // deliver a last line without a newline
	}
	ev := r.reading.Evidence(result, stdout.Skipped+stderr.Skipped)
	if ev.Left = left; left != nil {
		ev.Tally.Warn(left.Error())
	}
	return ev, nil
}

// leastKillGrace is the minimum time between the timeout of a run and its kill. The usual time is a tenth of
// the timeout, and at most 2 s.
const leastKillGrace = 500 * time.Millisecond

// limited returns a context that ends at the timeout of a run, or before the deadline of the call, and the time
// to kill the run. A timeout of 0 and the zero time mean no limit. The caller must call stop.
func limited(
	ctx context.Context, timeout time.Duration,
) (_ context.Context, stop context.CancelCauseFunc, kill time.Time) {
	ctx, stop = context.WithCancelCause(ctx)
	end := func(left, given time.Duration) {
		timer := time.AfterFunc(left, func() { stop(&judge.Stop{Reason: call.ReasonTimeout, After: given}) })
		context.AfterFunc(ctx, func() { timer.Stop() })
	}
	now := time.Now()
	ask, kill, given := chainview.TerminateAt(ctx, now)
	if !ask.IsZero() {
		end(ask.Sub(now), given)
	}
	if timeout > 0 {
		end(timeout, timeout)
		own := now.Add(timeout + max(leastKillGrace, chainview.Margin(timeout)))
		if kill.IsZero() || own.Before(kill) {
			kill = own
		}
	}
	return ctx, stop, kill
}

func (p *Provider) newRun(ctx context.Context, c *plan, stop context.CancelCauseFunc, emit func(call.Event)) *run {
	r := &run{plan: c, spec: p.Spec, stop: stop, reading: p.reader(ctx, c, c.Call.Output, emit)}
	r.earlyEnd = p.newEarlyEnd(ctx, stop)
	r.earlyEnd.bound = func() bool {
		return c.mode.tools.HaveActed() || bound(c.Call, r.reading, r.earlyEnd.view)
	}
	r.reading.Heard, r.reading.Stop, r.reading.Ended = r.hear, stop, func() bool { return ctx.Err() != nil }
	return r
}

func (p *Provider) newEarlyEnd(ctx context.Context, stop context.CancelCauseFunc) *earlyEnd {
	return &earlyEnd{view: chainview.Of(ctx), patience: p.Settings.RetryPatience, settle: lingerOf(p.Spec), stop: stop}
}

// lingerOf returns how long the process may run after its last event.
func lingerOf(spec *clispec.Spec) time.Duration {
	if spec.LingerMS == 0 {
		return 500 * time.Millisecond
	}
	return time.Duration(spec.LingerMS) * time.Millisecond
}

// bound reports whether no other backend may take over, because the CLI may have changed something or the
// reader has received text.
func bound(c *compose.Call, r *reading.Reading, v chainview.View) bool {
	acted := c.Access >= call.AccessWrite && r.Acted() && (v.Discards == nil || !v.Discards())
	return acted || r.Delivered() && !v.CanReset
}

// reader returns the reader for the output of the CLI in an output mode.
func (p *Provider) reader(
	ctx context.Context, c *plan, output clispec.OutputMode, emit func(call.Event),
) *reading.Reading {
	r := &reading.Reading{
		Name: p.Name, Program: p.Program(), Judge: p.Judge(), Output: output, Answer: p.Spec.Answer,
		Tools: p.Spec.ToolEventsIn(output), AfterStream: c.mode.after,
		Prompt:  c.Call.Fields.Expand("{prompt}"),
		Secrets: plaintext.NewRedactor(append(c.Call.ServerSecrets(), c.Env...)), KeepCommentary: p.Settings.KeepCommentary,
		Withhold: p.Settings.RedactAnswers,
		Emit:     emit, Check: func(e *call.Event) (judge.Finding, bool) { return c.check(p.Spec, e) },
	}
	if log := p.Settings.Logger; log.Enabled(ctx, slog.LevelDebug) {
		r.Unread = func(why, line string) {
			log.DebugContext(ctx, "cli line not read", "backend", p.Name, "why", why, "line", line)
		}
	}
	return r
}

// check refuses a run that began a new session instead of continuing the requested one, because its answer
// would lack the conversation. It also refuses a run that the wrong account would pay for.
func (c *plan) check(spec *clispec.Spec, e *call.Event) (judge.Finding, bool) {
	if e.Kind != call.EventSession && e.KeySource == "" {
		return judge.Finding{}, false
	}
	asked := c.Call.Fields["session"]
	if e.Kind == call.EventSession && spec.Sessions.SameID && len(asked) > 0 && e.Session != asked[0] {
		message := "the CLI began a new session instead of " + asked[0]
		return judge.Finding{Reason: call.ReasonBadSession, Message: message}, true
	}
	if err := c.bill.Refused(e.KeySource); err != nil {
		return judge.Finding{Reason: err.Reason, Message: err.Message, Hint: err.Hint, Advice: err.Advice}, true
	}
	return judge.Finding{}, false
}

// sweepOrphans ends the orphaned processes of hosts that were killed, and removes their stale temporary
// directories, once in the lifetime of this process. It ignores errors, because they must not fail a call.
var sweepOrphans = beside(func() {
	_, _ = proc.SweepOrphans()
	localfile.RemoveStale(os.TempDir(), time.Now())
})

// beside returns a function that starts do in a goroutine at its first call. That function returns a func that
// waits for do, so that the first call need not wait before its CLI starts.
func beside(do func()) (begin func() (wait func())) {
	return sync.OnceValue(func() func() {
		var running sync.WaitGroup
		running.Go(do)
		return running.Wait
	})
}
