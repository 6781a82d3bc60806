package clichain

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/lines"
	"github.com/clichain/clichain/internal/proc"
)

// reading turns the two streams of a run into events and evidence. The fields
// that begin in upper case are set before the first line. Its methods may be
// called by the goroutines of both streams.
type reading struct {
	Name    string // of the backend
	Program *program
	Judge   *judge
	Output  OutputMode
	Answer  AnswerMode
	Secrets *redactor
	// Emit gets what a reader of the call sees.
	Emit func(Event)
	// Check may refuse to let the run go on. It must not wait. Nil: nothing is
	// refused.
	Check func(*Event) (finding, bool)
	// Heard gets every event, while no lock is held. Nil: nobody does.
	Heard func(*sign)
	// Stop ends the run, for a reason that makes its answer void.
	Stop func(error)
	// Ended reports whether the process has been told to end.
	Ended func() bool
	// KeepCommentary passes all text on as text.
	KeepCommentary bool
	// Now is the clock. Nil: time.Now.
	Now func() time.Time

	mu      sync.Mutex
	scratch scratch
	signs   []sign // of the last line of stdout
	tally   tally
	remarks commentary
	shown   bool         // the reader has some of the answer
	whole   bytes.Buffer // all of stdout, in the modes read at the end
	stray   bytes.Buffer // lines of a stream that are no JSON
	broken  int          // those that begin like it
}

func (r *reading) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// streams are the line splitters of stdout and stderr.
func (r *reading) streams() (stdout, stderr *lines.Splitter) {
	r.tally.answer = r.Answer
	stderr = &lines.Splitter{Line: r.stderrLine}
	stdout = &lines.Splitter{Line: r.streamLine}
	if r.Output != OutputStream {
		stdout.Line = r.keepLine
	}
	return stdout, stderr
}

// acted reports whether the agent has used a tool.
func (r *reading) acted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tally.tools > 0
}

// delivered reports whether the reader has some of the answer.
func (r *reading) delivered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown
}

// keepLine collects the output of a mode that is read at the end.
func (r *reading) keepLine(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole.Write(line)
	r.whole.WriteByte('\n')
}

// streamLine reads one event line.
func (r *reading) streamLine(line []byte) {
	if len(bytes.TrimSpace(line)) > 0 {
		r.hear(r.readLine(line))
	}
}

// readLine delivers the events of a line, and returns them.
func (r *reading) readLine(line []byte) []sign {
	r.mu.Lock()
	defer r.mu.Unlock()
	object, ok := parseObject(line)
	if !ok {
		return r.strayLine(line)
	}
	items := r.Program.events(&r.scratch, object)
	if len(items) == 0 {
		return r.deliverRaw(line)
	}
	return r.deliverAll(items)
}

// deliverRaw delivers a line that no rule knows.
func (r *reading) deliverRaw(line []byte) []sign {
	return r.deliverAll([]item{{Event: Event{Kind: EventRaw, Raw: string(line)}}})
}

// strayLine keeps a line that is no event. One that begins like an event and
// does not parse is broken or cut short, and is counted; any other may be a
// banner.
func (r *reading) strayLine(line []byte) []sign {
	if r.stray.Len() < maxEvidence {
		r.stray.Write(line)
		r.stray.WriteByte('\n')
	}
	if jsonStart.Match(line) {
		r.broken++
		return nil
	}
	return r.deliverRaw(line)
}

// stderrLine looks for signs that the CLI is trying again, and for what must
// end the run.
func (r *reading) stderrLine(line []byte) {
	for _, kind := range []EventKind{EventRetry, EventWarning, EventError} {
		f, ok := r.Judge.lines.find(kind, OnStderr, string(line), r.now())
		if !ok || kind == EventError && !f.fatal {
			continue
		}
		e := signOf(Event{Kind: kind, Message: oneLine(f.message), Status: f.status, Try: f.try, RetryAfter: f.retryAfter})
		e.found = f
		r.deliverSign(&e)
		r.hear([]sign{e})
		return
	}
}

// deliverSign delivers what a line of stderr said.
func (r *reading) deliverSign(e *sign) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.found.fatal {
		r.abort(e.found)
	}
	r.deliver(e)
}

// hear tells of events after their line was read, so that who hears them may
// wait.
func (r *reading) hear(signs []sign) {
	if r.Heard == nil {
		return
	}
	for i := range signs {
		r.Heard(&signs[i])
	}
}

// deliverAll delivers events of stdout. The result is valid until the next
// call. The caller holds mu.
func (r *reading) deliverAll(items []item) []sign {
	clear(r.signs) // otherwise they would keep their texts from being freed
	r.signs = r.signs[:0]
	for i := range items {
		r.signs = append(r.signs, sign{item: items[i]})
		r.deliver(&r.signs[i])
	}
	return r.signs
}

// deliver counts an event and passes it on. The caller holds mu.
func (r *reading) deliver(e *sign) {
	e.Backend, e.Message = r.Name, r.Secrets.clean(e.Message)
	if e.terminal && (e.Failed || e.Kind == EventError) && r.Ended() {
		e.terminal = false // the echo of our own signal says nothing about the call
	}
	r.Judge.classify(e, r.now())
	if out, ok := r.tally.add(e); ok {
		r.show(out)
	}
	if r.Check != nil {
		if f, refused := r.Check(&e.Event); refused {
			r.abort(f)
		}
	}
}

// abort ends the run: nothing it says afterwards is an answer. The caller holds
// mu.
func (r *reading) abort(f finding) {
	r.tally.fatal = &f
	r.Stop(errFatal)
}

// show passes an event on. The caller holds mu.
func (r *reading) show(e Event) {
	if r.holdsBack() {
		r.showAll(r.remarks.add(e))
	} else {
		r.showAll([]Event{e})
	}
}

// holdsBack reports whether text waits until it is known to be the answer.
func (r *reading) holdsBack() bool { return r.Answer == AnswerLastBlock && !r.KeepCommentary }

func (r *reading) showAll(events []Event) {
	for _, e := range events {
		r.shown = r.shown || e.Kind == EventDelta || e.Kind == EventText
		r.Emit(e)
	}
}

// evidence is all that the run has said. Lines that were skipped for their
// length are told by their number.
func (r *reading) evidence(result proc.Result, skipped int) *evidence {
	r.mu.Lock()
	defer r.mu.Unlock()
	ev := &evidence{
		output: r.Output, tally: &r.tally, secrets: r.Secrets, result: result, now: r.now(),
		stdout: r.whole.String(), stray: r.stray.String(), stderr: result.Stderr.Text(),
	}
	if ev.output == OutputJSON {
		r.readDocument(ev)
	}
	if r.holdsBack() {
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
func (r *reading) readDocument(ev *evidence) {
	for _, text := range []string{ev.stdout, ev.stderr} {
		for _, object := range documentObjects([]byte(text)) {
			r.deliverAll(r.Program.events(&r.scratch, object))
		}
		if r.tally.terminal != nil {
			return
		}
	}
	ev.stray = ev.stdout
}
