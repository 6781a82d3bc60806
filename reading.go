package clichain

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/lines"
	"github.com/clichain/clichain/internal/proc"
)

// Reading turns the two streams of a run into events and evidence. The fields
// that begin in upper case are set before the first line. Its methods may be
// called by the goroutines of both streams.
type Reading struct {
	Name    string // of the backend
	Program *Program
	Judge   *Judge
	Output  OutputMode
	Answer  AnswerMode
	Secrets *redactor
	// Emit gets what a reader of the call sees.
	Emit func(Event)
	// Check may refuse to let the run go on. It must not wait. Nil: nothing is
	// refused.
	Check func(*Event) (Finding, bool)
	// Heard gets every event, while no lock is held. Nil: nobody does.
	Heard func(*Sign)
	// Stop ends the run, for a reason that makes its answer void.
	Stop func(error)
	// Ended reports whether the process has been told to end.
	Ended func() bool
	// KeepCommentary passes all text on as text.
	KeepCommentary bool
	// Now is the clock. Nil: time.Now.
	Now func() time.Time

	mu      sync.Mutex
	scratch Scratch
	signs   []Sign // of the last line of stdout
	tally   tally
	remarks commentary
	shown   bool         // the reader has some of the answer
	whole   bytes.Buffer // all of stdout, in the modes read at the end
	stray   bytes.Buffer // lines of a stream that are no JSON
	broken  int          // those that begin like it
}

func (r *Reading) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// Streams are the line splitters of stdout and stderr.
func (r *Reading) Streams() (stdout, stderr *lines.Splitter) {
	r.tally.Answer = r.Answer
	stderr = &lines.Splitter{Line: r.stderrLine}
	stdout = &lines.Splitter{Line: r.streamLine}
	if r.Output != OutputStream {
		stdout.Line = r.keepLine
	}
	return stdout, stderr
}

// Acted reports whether the agent has used a tool.
func (r *Reading) Acted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tally.Tools > 0
}

// Delivered reports whether the reader has some of the answer.
func (r *Reading) Delivered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown
}

// keepLine collects the output of a mode that is read at the end.
func (r *Reading) keepLine(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole.Write(line)
	r.whole.WriteByte('\n')
}

// streamLine reads one event line.
func (r *Reading) streamLine(line []byte) {
	if len(bytes.TrimSpace(line)) > 0 {
		r.hear(r.readLine(line))
	}
}

// readLine delivers the events of a line, and returns them.
func (r *Reading) readLine(line []byte) []Sign {
	r.mu.Lock()
	defer r.mu.Unlock()
	object, ok := ParseObject(line)
	if !ok {
		return r.strayLine(line)
	}
	items := r.Program.Events(&r.scratch, object)
	if len(items) == 0 {
		return r.deliverRaw(line)
	}
	return r.deliverAll(items)
}

// deliverRaw delivers a line that no rule knows.
func (r *Reading) deliverRaw(line []byte) []Sign {
	return r.deliverAll([]Item{{Event: Event{Kind: EventRaw, Raw: string(line)}}})
}

// strayLine keeps a line that is no event. One that begins like an event and
// does not parse is broken or cut short, and is counted; any other may be a
// banner.
func (r *Reading) strayLine(line []byte) []Sign {
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
func (r *Reading) stderrLine(line []byte) {
	for _, kind := range []EventKind{EventRetry, EventWarning, EventError} {
		f, ok := r.Judge.Lines.Find(kind, OnStderr, string(line), r.now())
		if !ok || kind == EventError && !f.Fatal {
			continue
		}
		e := SignOf(Event{Kind: kind, Message: oneLine(f.Message), Status: f.Status, Try: f.Try, RetryAfter: f.RetryAfter})
		e.Found = f
		r.deliverSign(&e)
		r.hear([]Sign{e})
		return
	}
}

// deliverSign delivers what a line of stderr said.
func (r *Reading) deliverSign(e *Sign) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Found.Fatal {
		r.abort(e.Found)
	}
	r.deliver(e)
}

// hear tells of events after their line was read, so that who hears them may
// wait.
func (r *Reading) hear(signs []Sign) {
	if r.Heard == nil {
		return
	}
	for i := range signs {
		r.Heard(&signs[i])
	}
}

// deliverAll delivers events of stdout. The result is valid until the next
// call. The caller holds mu.
func (r *Reading) deliverAll(items []Item) []Sign {
	clear(r.signs) // otherwise they would keep their texts from being freed
	r.signs = r.signs[:0]
	for i := range items {
		r.signs = append(r.signs, Sign{Item: items[i]})
		r.deliver(&r.signs[i])
	}
	return r.signs
}

// deliver counts an event and passes it on. The caller holds mu.
func (r *Reading) deliver(e *Sign) {
	e.Backend, e.Message = r.Name, r.Secrets.Clean(e.Message)
	if e.Terminal && (e.Failed || e.Kind == EventError) && r.Ended() {
		e.Terminal = false // the echo of our own signal says nothing about the call
	}
	r.Judge.Classify(e, r.now())
	if out, ok := r.tally.Add(e); ok {
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
func (r *Reading) abort(f Finding) {
	r.tally.Fatal = &f
	r.Stop(errFatal)
}

// show passes an event on. The caller holds mu.
func (r *Reading) show(e Event) {
	if r.holdsBack() {
		r.showAll(r.remarks.Add(e))
	} else {
		r.showAll([]Event{e})
	}
}

// holdsBack reports whether text waits until it is known to be the answer.
func (r *Reading) holdsBack() bool { return r.Answer == AnswerLastBlock && !r.KeepCommentary }

func (r *Reading) showAll(events []Event) {
	for _, e := range events {
		r.shown = r.shown || e.Kind == EventDelta || e.Kind == EventText
		r.Emit(e)
	}
}

// Evidence is all that the run has said. Lines that were skipped for their
// length are told by their number.
func (r *Reading) Evidence(result proc.Result, skipped int) *evidence {
	r.mu.Lock()
	defer r.mu.Unlock()
	ev := &evidence{
		Output: r.Output, Tally: &r.tally, Secrets: r.Secrets, Result: result, Now: r.now(),
		Stdout: r.whole.String(), Stray: r.stray.String(), Stderr: result.Stderr.Text(),
	}
	if ev.Output == OutputJSON {
		r.readDocument(ev)
	}
	if r.holdsBack() {
		quiet := result.Cause == nil && result.ExitCode == 0 && r.tally.Terminal == nil && len(r.tally.Failures) == 0
		r.showAll(r.remarks.End(quiet)) // without a last word
	}
	if !result.TreeClean {
		r.tally.Warn("processes of the run may be left: not all could be seen or ended")
	}
	if skipped > 0 {
		r.tally.Warn(fmt.Sprintf("%d lines of output were too long and were skipped", skipped))
	}
	if r.broken > 0 {
		r.tally.Warn(fmt.Sprintf("%d lines of output were broken JSON and were skipped", r.broken))
	}
	return ev
}

// readDocument reads the output of json mode: some CLIs print the document of
// a failure on stderr.
func (r *Reading) readDocument(ev *evidence) {
	for _, text := range []string{ev.Stdout, ev.Stderr} {
		for _, object := range documentObjects([]byte(text)) {
			r.deliverAll(r.Program.Events(&r.scratch, object))
		}
		if r.tally.Terminal != nil {
			return
		}
	}
	ev.Stray = ev.Stdout
}
