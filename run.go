package clichain

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
	"github.com/clichain/clichain/internal/reading"
	"github.com/clichain/clichain/runs"
)

// run is one process, what is read from it, and what may end it early.
type run struct {
	plan    *plan
	spec    *CliSpec
	stop    context.CancelCauseFunc
	reading *reading.Reading
	*earlyEnd
}

// execute runs a plan to its end and returns the evidence. Nothing it started,
// and no file it made, is left when it returns. The error is non-nil only when
// nothing was started.
func (p *Provider) execute(
	ctx context.Context, c *plan, timeout time.Duration, emit func(Event),
) (*judge.Evidence, *BackendError) {
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
	quiet := reading.Listen(p.cfg.FirstOutputTimeout, p.cfg.IdleTimeout, stop)
	defer quiet.End()
	emit(Event{Kind: EventStart, Backend: p.name})
	stdout, stderr := r.reading.Streams()
	result, left, spawnErr := c.box.Supervise(ctx, proc.Command{
		Path: c.Path, Args: append([]string{c.Path}, c.Args...), Env: c.Env, Dir: c.Dir, Stdin: c.Stdin,
		Stdout: quiet.Over(stdout), Stderr: quiet.Over(stderr),
		Limit: p.cfg.MaxOutput, Shim: p.cfg.Shim, Cgroup: p.cfg.Cgroup, KillAt: kill,
	})
	r.stopTimers()
	if spawnErr != nil {
		return nil, spawnFailure(judge.Ended(caller, spawnErr))
	}
	result.Cause = judge.Ended(caller, result.Cause)
	if !result.DrainCut { // else a reader may still be at work
		_, _ = stdout.Close(), stderr.Close() // a last line without an end
	}
	ev := r.reading.Evidence(result, stdout.Skipped+stderr.Skipped)
	if ev.Left = left; left != nil {
		ev.Tally.Warn(left.Error())
	}
	return ev, nil
}

// leastKillGrace is the least time between the timeout of a run and its kill, which is a tenth of the timeout, up to
// 2 s.
const leastKillGrace = 500 * time.Millisecond

// limited is a context that ends when the time of a run is over: its own, after which it is killed soon, or the
// call's, before which it is asked to end and at which it is killed. 0 and the zero
// time are no bounds. Call stop at the end.
func limited(
	ctx context.Context, timeout time.Duration,
) (_ context.Context, stop context.CancelCauseFunc, kill time.Time) {
	ctx, stop = context.WithCancelCause(ctx)
	end := func(left, given time.Duration) {
		timer := time.AfterFunc(left, func() { stop(&judge.Stop{Reason: ReasonTimeout, After: given}) })
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

func (p *Provider) newRun(ctx context.Context, c *plan, stop context.CancelCauseFunc, emit func(Event)) *run {
	r := &run{plan: c, spec: p.spec, stop: stop, reading: p.reader(ctx, c, c.Call.Output, emit)}
	r.earlyEnd = p.newEarlyEnd(ctx, stop)
	r.earlyEnd.bound = func() bool { return bound(c.Call, r.reading, r.earlyEnd.view) }
	r.reading.Heard, r.reading.Stop, r.reading.Ended = r.hear, stop, func() bool { return ctx.Err() != nil }
	return r
}

func (p *Provider) newEarlyEnd(ctx context.Context, stop context.CancelCauseFunc) *earlyEnd {
	return &earlyEnd{view: chainview.Of(ctx), overload: p.cfg.RetryPatience, settle: lingerOf(p.spec), stop: stop}
}

// reader reads what a CLI prints for a call, in an output mode.
func (p *Provider) reader(ctx context.Context, c *plan, output clispec.OutputMode, emit func(Event)) *reading.Reading {
	r := &reading.Reading{
		Name: p.name, Program: p.program(), Judge: p.judge(), Output: output, Answer: p.spec.Answer,
		Tools: p.spec.ToolEventsIn(output), AfterStream: c.mode.after,
		Prompt:  c.Call.Fields.Expand("{prompt}"),
		Secrets: plaintext.NewRedactor(append(c.Call.ServerSecrets(), c.Env...)), KeepCommentary: p.cfg.KeepCommentary,
		Withhold: p.cfg.RedactAnswers,
		Emit:     emit, Check: func(e *Event) (judge.Finding, bool) { return c.check(p.spec, e) },
	}
	if log := p.cfg.Logger; log.Enabled(ctx, slog.LevelDebug) {
		r.Unread = func(why, line string) {
			log.DebugContext(ctx, "cli line not read", "backend", p.name, "why", why, "line", line)
		}
	}
	return r
}

// lingerOf is how long the process may go on after its last word.
func lingerOf(spec *CliSpec) time.Duration {
	if spec.LingerMS == 0 {
		return 500 * time.Millisecond
	}
	return time.Duration(spec.LingerMS) * time.Millisecond
}

// bound reports whether no other backend may take over: something was done, or
// read, that cannot be undone.
func bound(c *compose.Call, r *reading.Reading, v chainview.View) bool {
	return c.Access >= AccessWrite && r.Acted() || r.Delivered() && !v.CanReset
}

// check refuses a run that began a new session in place of the one to go on
// from, because its answer would know nothing of what was said before; and one
// for which somebody else pays after all.
func (c *plan) check(spec *CliSpec, e *Event) (judge.Finding, bool) {
	if e.Kind != EventSession && e.KeySource == "" {
		return judge.Finding{}, false
	}
	asked := c.Call.Fields["session"]
	if e.Kind == EventSession && spec.Sessions.SameID && len(asked) > 0 && e.Session != asked[0] {
		return judge.Finding{Reason: ReasonBadSession, Message: "the CLI began a new session in place of " + asked[0]}, true
	}
	if err := c.bill.Refused(e.KeySource); err != nil {
		return judge.Finding{Reason: err.Reason, Message: err.Message, Hint: err.Hint}, true
	}
	return judge.Finding{}, false
}

// spawnFailure is the error of a program that was not started.
func spawnFailure(err error) *BackendError {
	be := &BackendError{Reason: ReasonSpawn, Message: err.Error(), ExitCode: -1, Err: err, Stage: call.StageSkipped}
	var spawn *proc.SpawnError
	switch {
	case !errors.As(err, &spawn): // the context ended first
		be.Reason, be.Message = judge.ReasonOfCause(err), ""
	case spawn.Kind == proc.NotFound:
		be.Reason = ReasonNotInstalled
	case spawn.Kind == proc.ArgTooBig:
		be.Reason, be.Option = ReasonUnsupported, "prompt"
	}
	return be
}

// sweepOrphans ends, once in the life of this process, what hosts that died
// before it have left behind: processes, and folders that are old enough.
// Where that cannot be told nothing is touched, and a failure must not keep
// anybody from working.
var sweepOrphans = beside(func() {
	_, _ = proc.SweepOrphans()
	localfile.RemoveStale(os.TempDir(), time.Now())
})

// beside makes a function that begins to do something the first time it is called, and returns how to wait until that
// is done: a first call need not wait for it before its CLI is started.
func beside(do func()) (begin func() (wait func())) {
	return sync.OnceValue(func() func() { return inBackground(do) })
}

// inBackground begins to do something, and returns how to wait until that is done.
func inBackground(do func()) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	return func() { <-done }
}
