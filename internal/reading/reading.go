// Package reading converts the output of a running CLI, line by line, into events for the caller and evidence
// for the judge. It knows no CLI by name, and neither starts nor ends a process: its caller passes the lines,
// and ends the run on request.
package reading

import (
	"bytes"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/decode"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/lines"
	"github.com/clichain/clichain/internal/plaintext"
)

// Reading converts the two streams of a run into events and evidence. Set the exported fields before the first
// line. It is safe for concurrent use: a separate goroutine may read each stream.
type Reading struct {
	Name           string // of the backend
	Program        *decode.Program
	Judge          *judge.Judge
	Output         clispec.OutputMode
	Answer         clispec.AnswerMode
	Tools          clispec.ToolEvents // when the output shows tool events
	AfterStream    bool               // a stream of the same call broke off
	Prompt         string             // as passed to the CLI
	Secrets        *plaintext.Redactor
	KeepCommentary bool              // deliver all text as text events
	DoubtStderr    bool              // stderr may be of another run; it appears in errors but decides nothing
	Withhold       bool              // deliver no model text, because secrets can be redacted only at the end
	Now            func() time.Time  // nil: time.Now
	Emit           func(call.Event)  // delivers an event to the caller
	Heard          func(*judge.Sign) // receives every event, while no lock is held; may be nil
	Stop           func(error)       // ends the run; its answer does not count
	Ended          func() bool       // whether the process was asked to terminate
	// Unread, if not nil, receives the first 20 lines of a run that become no event, or only a raw one. The
	// lines are redacted and shortened.
	Unread func(why, line string)
	// Check may refuse an event, which ends the run. It must not block. Nil refuses no event.
	Check func(*call.Event) (judge.Finding, bool)

	mu      sync.Mutex
	scratch decode.Scratch
	mirror  decode.Scratch // for lines of stderr
	others  bool           // stderr continues with text of others
	signs   []judge.Sign   // of the latest line of stdout
	twice   repeats
	tally   judge.Tally
	remarks judge.Commentary
	shown   bool         // the caller has received some of the answer
	whole   bytes.Buffer // the whole stdout, in modes that are read at the end
	stray   bytes.Buffer // lines of a stream that are not JSON
	broken  int          // stray lines that begin like JSON
	unread  int          // lines that were passed to Unread
}

func (r *Reading) now() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// Streams creates the line splitters for stdout and stderr. Call it once.
func (r *Reading) Streams() (stdout, stderr *lines.Splitter) {
	r.tally.Answer = r.Answer
	stderr = &lines.Splitter{Line: r.stderrLine}
	stdout = &lines.Splitter{Line: r.streamLine}
	if r.Output != clispec.OutputStream {
		stdout.Line = r.keepLine
	}
	return stdout, stderr
}

// Acted reports whether the agent has used a tool, or may have.
func (r *Reading) Acted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tally.Acting(r.Tools)
}

// Delivered reports whether the caller has received some of the answer.
func (r *Reading) Delivered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shown
}

// KnowsUsed reports whether the CLI has reported the used share of a usage window.
func (r *Reading) KnowsUsed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tally.KnowsUsed()
}

// keepLine collects the output of a mode that is read at the end.
func (r *Reading) keepLine(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.whole.Write(line)
	r.whole.WriteByte('\n')
}

func (r *Reading) streamLine(line []byte) {
	if len(bytes.TrimSpace(line)) > 0 {
		r.hear(r.readLine(line))
	}
}

// readLine delivers the events of a line and returns them.
func (r *Reading) readLine(line []byte) []judge.Sign {
	r.mu.Lock()
	defer r.mu.Unlock()
	items, ok := r.Program.Line(&r.scratch, line)
	if len(items) > 0 {
		if r.twice.again(line, items) {
			return nil
		}
		return r.deliverAll(items)
	}
	switch {
	case ok:
		r.leave("an unknown event", line)
	case r.keepStray(line):
		r.leave("broken JSON", line)
		return nil
	default:
		r.leave("not JSON", line)
	}
	return r.deliverAll([]decode.Item{{Event: call.Event{Kind: call.EventRaw, Raw: string(line)}}})
}

// leave reports a line that becomes no event. After a change of its format, a CLI prints many such lines.
func (r *Reading) leave(why string, line []byte) {
	const enough = 20
	if r.unread++; r.Unread != nil && r.unread <= enough {
		r.Unread(why, plaintext.OneLine(r.Secrets.CleanLine(r.Secrets.CleanDisguised(string(line)))))
	}
}

// keepStray keeps a line that is not a JSON object, as evidence. broken means that the line begins like JSON,
// so it is damaged or truncated, or that an event follows other text. Any other line may be a banner.
func (r *Reading) keepStray(line []byte) (broken bool) {
	if r.stray.Len() < judge.MaxEvidence {
		r.stray.Write(line)
		r.stray.WriteByte('\n')
	}
	if broken = jsonStart().Match(line); !broken {
		_, broken = r.ownWords(line, true)
	}
	if broken {
		r.broken++
	}
	return broken
}

// stderrLine looks for retries of the CLI, warnings and fatal errors.
func (r *Reading) stderrLine(line []byte) {
	line, ok := r.ownOnStderr(line)
	if !ok {
		return
	}
	// Redact before OneLine, which could cut a secret in two. Clean copies only changed text.
	text := r.Secrets.Clean(unsafe.String(unsafe.SliceData(line), len(line)))
	for _, kind := range []call.EventKind{call.EventRetry, call.EventWarning, call.EventError} {
		f, ok := r.Judge.Lines.Find(kind, clispec.OnStderr, text, r.now())
		if !ok || kind == call.EventError && !f.Fatal {
			continue
		}
		// The line is valid only during the call.
		f.Message, f.Hint = r.Secrets.CleanDisguised(strings.Clone(f.Message)), strings.Clone(f.Hint)
		e := judge.SignOf(call.Event{
			Kind: kind, Message: plaintext.OneLine(r.Secrets.CleanLine(f.Message)),
			Status: f.Status, Try: f.Try, RetryAfter: f.RetryAfter,
		})
		e.Found, e.OnStderr = f, true
		r.deliverSign(&e)
		r.hear([]judge.Sign{e})
		return
	}
}

// deliverSign delivers the event of a line of stderr.
func (r *Reading) deliverSign(e *judge.Sign) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Found.Fatal {
		r.abort(e.Found)
	}
	r.deliver(e)
}

// Warn delivers a warning of clichain, not of the CLI.
func (r *Reading) Warn(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deliver(&judge.Sign{Item: decode.Item{Event: call.Event{Kind: call.EventWarning, Message: message}}})
}

// hear passes the events of a line to Heard when no lock is held, because Heard may block.
func (r *Reading) hear(signs []judge.Sign) {
	for i := range signs {
		if r.Heard != nil {
			r.Heard(&signs[i])
		}
	}
}

// deliverAll delivers events of stdout. The result is valid until the next call. The caller holds mu.
func (r *Reading) deliverAll(items []decode.Item) []judge.Sign {
	clear(r.signs) // allows their texts to be freed
	r.signs = r.signs[:0]
	for i := range items {
		r.signs = append(r.signs, judge.Sign{Item: items[i]})
		r.deliver(&r.signs[i])
	}
	return r.signs
}

// deliver counts an event and delivers it. The caller holds mu.
func (r *Reading) deliver(e *judge.Sign) {
	e.Backend = r.Name
	r.clean(&e.Event)
	e.Late = r.Ended()
	r.Judge.Classify(e, r.now)
	if len(e.Quota) > 0 {
		e.Quota = r.Judge.Windows(e.Quota, r.now())
	}
	if stands, ok := r.tally.TakeBack(&e.Event); ok {
		r.takeBack(e.Kind, stands)
	}
	if out := r.tally.Add(e); out != nil && r.holdsBack() {
		r.showAll(r.remarks.Add(*out))
	} else if out != nil {
		r.show(out)
	}
	if r.Check != nil {
		if f, refused := r.Check(&e.Event); refused {
			r.abort(f)
		}
	}
}

// clean redacts an event, except the model's own text and the session handle, which must stay unchanged to
// continue the session.
func (r *Reading) clean(e *call.Event) {
	e.Message, e.Code = r.Secrets.CleanDisguised(e.Message), r.Secrets.CleanDisguised(e.Code)
	for _, field := range [...]*string{&e.Model, &e.KeySource, &e.ID, &e.Name, &e.Trigger} {
		*field = r.Secrets.Clean(*field)
	}
	if e.Raw != "" {
		e.Raw = r.Secrets.CleanLine(e.Raw)
	}
	e.Input = r.Secrets.CleanJSON(e.Input)
	switch e.Kind {
	case call.EventDelta, call.EventText, call.EventThinking:
		return
	case call.EventResult:
		if e.Failed {
			e.Text = r.Secrets.CleanDisguised(e.Text)
		}
		return
	}
	e.Text = r.Secrets.Clean(e.Text)
}

// abort ends the run: no later output counts as an answer. The caller holds mu.
func (r *Reading) abort(f judge.Finding) {
	r.tally.Fatal = &f
	r.Stop(judge.ErrFatal)
}

// holdsBack reports whether text is withheld until it is known to be the answer.
func (r *Reading) holdsBack() bool { return r.Answer == clispec.AnswerLastBlock && !r.KeepCommentary }
