package clichain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/lines"
	"github.com/clichain/clichain/internal/proc"
)

// run is one process and what is read from it. Its methods are called by the
// process's two reader goroutines, so mu guards the rest.
type run struct {
	spec   *compiledSpec
	inv    *invocation
	emit   func(Event)
	now    func() time.Time
	stop   context.CancelCauseFunc
	ended  func() bool // we have told the process to end
	linger *time.Timer // set at the terminal event

	mu      sync.Mutex
	object  object // memory to read events in
	tally   tally
	secrets *redactor
	patience
	shown   bool         // the reader has some of the answer
	remarks *commentary  // nil: all text is passed on as text
	whole   bytes.Buffer // all of stdout, in the modes read at the end
	stray   bytes.Buffer // lines of a stream that are no JSON
	broken  int          // those that begin like it
}

// execute runs an invocation to its end and returns the evidence. Nothing it
// started, and no file it made, is left when it returns. The error is non-nil
// only when nothing was started.
func (p *Provider) execute(ctx context.Context, inv *invocation, timeout time.Duration, emit func(Event)) (*evidence, *BackendError) {
	sweepOrphans()
	remove, err := inv.prepareFiles()
	defer remove()
	if err != nil {
		return nil, &BackendError{Reason: ReasonSpawn, Message: "cannot write a temporary file", ExitCode: -1, Err: err, unstarted: true}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer p.cfg.Registry.enter(ctx, p.name, stop)()
	if timeout > 0 {
		timer := time.AfterFunc(timeout, func() { stop(&stopError{ReasonTimeout, timeout}) })
		defer timer.Stop()
	}
	r := p.newRun(ctx, inv, stop, emit)
	quiet := listen(&p.cfg, stop)
	defer quiet.end()
	emit(Event{Kind: EventStart, Backend: p.name})
	stdout, stderr := r.readers()
	result, left, spawnErr := inv.box.supervise(ctx, proc.Command{
		Path: inv.path, Args: append([]string{inv.path}, inv.args...), Env: inv.env, Dir: inv.dir, Stdin: inv.stdin,
		Stdout: heardWriter{stdout, quiet}, Stderr: heardWriter{stderr, quiet}, Limit: p.cfg.MaxOutput, Shim: p.cfg.Shim, Cgroup: p.cfg.Cgroup,
	})
	r.stopClocks()
	if spawnErr != nil {
		return nil, spawnFailure(spawnErr)
	}
	if !result.DrainCut { // else a reader may still be at work
		_, _ = stdout.Close(), stderr.Close() // a last line without an end
	}
	r.noteLeft(left)
	ev := r.evidence(result, stdout.Skipped+stderr.Skipped)
	ev.left = left
	return ev, nil
}

func (p *Provider) newRun(ctx context.Context, inv *invocation, stop context.CancelCauseFunc, emit func(Event)) *run {
	r := &run{
		spec: p.spec, inv: inv, emit: emit, now: time.Now, stop: stop, ended: func() bool { return ctx.Err() != nil },
		tally: tally{answer: p.spec.Answer}, secrets: newRedactor(inv.env),
	}
	r.patience = patience{
		outlook: outlookOf(ctx), overload: p.cfg.RetryPatience, settle: p.spec.linger(),
		bound: r.bound, stop: func() { stop(errMovedOn) },
	}
	if p.spec.Answer == AnswerLastBlock && !p.cfg.KeepCommentary {
		r.remarks = new(commentary)
	}
	return r
}

// bound reports whether no other backend may take over: something was done, or
// read, that cannot be undone. The caller holds mu.
func (r *run) bound() bool {
	return r.inv.call.access >= AccessWrite && r.tally.tools > 0 || r.shown && !r.resets
}

func (r *run) stopClocks() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest()
	if r.linger != nil {
		r.linger.Stop()
	}
}

// readers make the line splitters of both streams.
func (r *run) readers() (stdout, stderr *lines.Splitter) {
	stderr = &lines.Splitter{Line: r.stderrLine}
	stdout = &lines.Splitter{Line: r.streamLine}
	if r.inv.call.output != OutputStream {
		stdout.Line = r.keepLine
	}
	return stdout, stderr
}

// keepLine collects the output of a mode that is read at the end.
func (r *run) keepLine(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole.Write(line)
	r.whole.WriteByte('\n')
}

// streamLine reads one event line.
func (r *run) streamLine(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	object, ok := parseObject(line)
	if !ok {
		r.strayLine(line)
		return
	}
	events := r.spec.program.events(&r.object, object)
	if len(events) == 0 {
		r.deliver(Event{Kind: EventRaw, Raw: string(line)})
	}
	for _, e := range events {
		r.deliver(e)
	}
}

// strayLine keeps a line that is no event. One that begins like an event and
// does not parse is broken or cut short, and is counted; any other may be a
// banner.
func (r *run) strayLine(line []byte) {
	if r.stray.Len() < maxEvidence {
		r.stray.Write(line)
		r.stray.WriteByte('\n')
	}
	if jsonStart.Match(line) {
		r.broken++
	} else {
		r.deliver(Event{Kind: EventRaw, Raw: string(line)})
	}
}

// stderrLine looks for signs that the CLI is trying again, and for what must
// end the run.
func (r *run) stderrLine(line []byte) {
	for _, kind := range []EventKind{EventRetry, EventWarning, EventError} {
		f, ok := r.spec.lines.find(kind, OnStderr, string(line), r.now())
		if !ok || kind == EventError && !f.fatal {
			continue
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if f.fatal {
			r.abort(f)
		}
		r.deliver(Event{Kind: kind, Message: oneLine(f.message), Status: f.status, Try: f.try, RetryAfter: f.retryAfter, found: f})
		return
	}
}

// deliver counts an event and passes it on. The caller holds mu.
func (r *run) deliver(e Event) {
	e.Backend, e.Message = r.spec.Name, r.secrets.clean(e.Message)
	if e.terminal && (e.Failed || e.Kind == EventError) && r.ended() {
		e.terminal = false // the echo of our own signal says nothing about the call
	}
	r.spec.classify(&e, r.now())
	if out, ok := r.tally.add(e); ok {
		r.show(out)
	}
	r.checkSession(&e)
	r.checkBilling(&e)
	if !e.terminal {
		r.hear(&e)
		return
	}
	r.rest()
	if r.linger == nil {
		r.linger = time.AfterFunc(r.spec.linger(), func() { r.stop(errAnswered) })
	}
}

// checkSession ends a run that began a new session in place of the one to go
// on from: its answer would know nothing of what was said before.
func (r *run) checkSession(e *Event) {
	asked := r.inv.call.fields["session"]
	if !r.spec.Sessions.SameID || e.Kind != EventSession || len(asked) == 0 || e.Session == asked[0] {
		return
	}
	r.abort(finding{reason: ReasonBadSession, message: "the CLI began a new session in place of " + asked[0]})
}

// abort ends the run: nothing it says afterwards is an answer. The caller holds
// mu.
func (r *run) abort(f finding) {
	r.tally.fatal = &f
	r.stop(errFatal)
}

// show passes an event on. The caller holds mu.
func (r *run) show(e Event) {
	if r.remarks == nil {
		r.showAll([]Event{e})
	} else {
		r.showAll(r.remarks.add(e))
	}
}

func (r *run) showAll(events []Event) {
	for _, e := range events {
		r.shown = r.shown || e.Kind == EventDelta || e.Kind == EventText
		r.emit(e)
	}
}

// errAnswered ends a process that goes on after its last word.
var errAnswered = errors.New("the call was over")

// errFatal ends a run after a line of a Fatal rule.
var errFatal = errors.New("the run could not go on")

func (r *run) evidence(result proc.Result, skipped int) *evidence {
	r.mu.Lock()
	defer r.mu.Unlock()
	ev := &evidence{
		output: r.inv.call.output, tally: &r.tally, secrets: r.secrets, result: result, now: r.now(),
		stdout: r.whole.String(), stray: r.stray.String(), stderr: result.Stderr.Text(),
	}
	if ev.output == OutputJSON {
		r.readDocument(ev)
	}
	if r.remarks != nil {
		quiet := result.Cause == nil && result.ExitCode == 0 && r.tally.terminal == nil && len(r.tally.failures) == 0
		r.showAll(r.remarks.end(quiet)) // without a last word
	}
	if !result.TreeClean {
		r.tally.warn("processes of the run may be left: not all could be seen or ended")
	}
	if skipped > 0 {
		r.tally.warn(fmt.Sprintf("%d lines of output were too long and were skipped", skipped))
	}
	if r.broken > 0 {
		r.tally.warn(fmt.Sprintf("%d lines of output were broken JSON and were skipped", r.broken))
	}
	return ev
}

// readDocument reads the output of json mode: some CLIs print the document of
// a failure on stderr.
func (r *run) readDocument(ev *evidence) {
	for _, text := range []string{ev.stdout, ev.stderr} {
		for _, object := range documentObjects([]byte(text)) {
			for _, e := range r.spec.program.events(&r.object, object) {
				r.deliver(e)
			}
		}
		if r.tally.terminal != nil {
			return
		}
	}
	ev.stray = ev.stdout
}

// spawnFailure is the error of a program that was not started.
func spawnFailure(err error) *BackendError {
	be := &BackendError{Reason: ReasonSpawn, Message: err.Error(), ExitCode: -1, Err: err, unstarted: true}
	var spawn *proc.SpawnError
	switch {
	case !errors.As(err, &spawn): // the context ended first
		be.Reason, be.Message = ReasonCanceled, ""
		var stop *stopError
		if errors.As(err, &stop) {
			be.Reason = stop.reason
		}
	case spawn.Kind == proc.NotFound:
		be.Reason = ReasonNotInstalled
	case spawn.Kind == proc.ArgTooBig:
		be.Reason, be.Option = ReasonUnsupported, "prompt"
	}
	return be
}
