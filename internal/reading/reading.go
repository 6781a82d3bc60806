package reading

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/lines"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
)

// Reading turns the two streams of a run into events and evidence. The fields
// that begin in upper case are set before the first line. Its methods may be
// called by the goroutines of both streams.
type Reading struct {
	Name    string // of the backend
	Program *decode.Program
	Judge   *judge.Judge
	Output  clispec.OutputMode
	Answer  clispec.AnswerMode
	Secrets *plaintext.Redactor
	// Emit gets what a reader of the call sees.
	Emit func(call.Event)
	// Check may refuse to let the run go on. It must not wait. Nil: nothing is
	// refused.
	Check func(*call.Event) (judge.Finding, bool)
	// Heard gets every event, while no lock is held. Nil: nobody does.
	Heard func(*judge.Sign)
	// Stop ends the run, for a reason that makes its answer void.
	Stop func(error)
	// Ended reports whether the process has been told to end.
	Ended func() bool
	// KeepCommentary passes all text on as text.
	KeepCommentary bool
	// Now is the clock. Nil: time.Now.
	Now func() time.Time

	mu      sync.Mutex
	scratch decode.Scratch
	signs   []judge.Sign // of the last line of stdout
	tally   judge.Tally
	remarks judge.Commentary
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
	if r.Output != clispec.OutputStream {
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
func (r *Reading) readLine(line []byte) []judge.Sign {
	r.mu.Lock()
	defer r.mu.Unlock()
	object, ok := jsontext.ParseObject(line)
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
func (r *Reading) deliverRaw(line []byte) []judge.Sign {
	return r.deliverAll([]decode.Item{{Event: call.Event{Kind: call.EventRaw, Raw: string(line)}}})
}

// strayLine keeps a line that is no event. One that begins like an event and
// does not parse is broken or cut short, and is counted; any other may be a
// banner.
func (r *Reading) strayLine(line []byte) []judge.Sign {
	if r.stray.Len() < judge.MaxEvidence {
		r.stray.Write(line)
		r.stray.WriteByte('\n')
	}
	if judge.JsonStart.Match(line) {
		r.broken++
		return nil
	}
	return r.deliverRaw(line)
}

// stderrLine looks for signs that the CLI is trying again, and for what must
// end the run.
func (r *Reading) stderrLine(line []byte) {
	for _, kind := range []call.EventKind{call.EventRetry, call.EventWarning, call.EventError} {
		f, ok := r.Judge.Lines.Find(kind, clispec.OnStderr, string(line), r.now())
		if !ok || kind == call.EventError && !f.Fatal {
			continue
		}
		e := judge.SignOf(call.Event{Kind: kind, Message: plaintext.OneLine(f.Message), Status: f.Status, Try: f.Try, RetryAfter: f.RetryAfter})
		e.Found = f
		r.deliverSign(&e)
		r.hear([]judge.Sign{e})
		return
	}
}

// deliverSign delivers what a line of stderr said.
func (r *Reading) deliverSign(e *judge.Sign) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Found.Fatal {
		r.abort(e.Found)
	}
	r.deliver(e)
}

// hear tells of events after their line was read, so that who hears them may
// wait.
func (r *Reading) hear(signs []judge.Sign) {
	if r.Heard == nil {
		return
	}
	for i := range signs {
		r.Heard(&signs[i])
	}
}

// deliverAll delivers events of stdout. The result is valid until the next
// call. The caller holds mu.
func (r *Reading) deliverAll(items []decode.Item) []judge.Sign {
	clear(r.signs) // otherwise they would keep their texts from being freed
	r.signs = r.signs[:0]
	for i := range items {
		r.signs = append(r.signs, judge.Sign{Item: items[i]})
		r.deliver(&r.signs[i])
	}
	return r.signs
}

// deliver counts an event and passes it on. The caller holds mu.
func (r *Reading) deliver(e *judge.Sign) {
	e.Backend, e.Message = r.Name, r.Secrets.Clean(e.Message)
	if e.Terminal && (e.Failed || e.Kind == call.EventError) && r.Ended() {
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
func (r *Reading) abort(f judge.Finding) {
	r.tally.Fatal = &f
	r.Stop(judge.ErrFatal)
}

// show passes an event on. The caller holds mu.
func (r *Reading) show(e call.Event) {
	if r.holdsBack() {
		r.showAll(r.remarks.Add(e))
	} else {
		r.showAll([]call.Event{e})
	}
}

// holdsBack reports whether text waits until it is known to be the answer.
func (r *Reading) holdsBack() bool { return r.Answer == clispec.AnswerLastBlock && !r.KeepCommentary }

func (r *Reading) showAll(events []call.Event) {
	for _, e := range events {
		r.shown = r.shown || e.Kind == call.EventDelta || e.Kind == call.EventText
		r.Emit(e)
	}
}

// Evidence is all that the run has said. Lines that were skipped for their
// length are told by their number.
func (r *Reading) Evidence(result proc.Result, skipped int) *judge.Evidence {
	r.mu.Lock()
	defer r.mu.Unlock()
	ev := &judge.Evidence{
		Output: r.Output, Tally: &r.tally, Secrets: r.Secrets, Result: result, Now: r.now(),
		Stdout: r.whole.String(), Stray: r.stray.String(), Stderr: result.Stderr.Text(),
	}
	if ev.Output == clispec.OutputJSON {
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
func (r *Reading) readDocument(ev *judge.Evidence) {
	for _, text := range []string{ev.Stdout, ev.Stderr} {
		for _, object := range jsontext.Objects([]byte(text)) {
			r.deliverAll(r.Program.Events(&r.scratch, object))
		}
		if r.tally.Terminal != nil {
			return
		}
	}
	ev.Stray = ev.Stdout
}
