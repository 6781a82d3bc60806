// Package judge decides what a run came to: an answer, or which failure, by the
// run's events, texts, exit status and the cause of its end. It knows no CLI by
// name, starts nothing and does no I/O: the same evidence gives the same verdict.
package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
)

// Evidence is everything a run is judged by.
type Evidence struct {
	Output  clispec.OutputMode
	Tally   *Tally
	Stdout  string // kept part
	Stray   string // lines of stdout that are no JSON, in the JSON modes
	Stderr  string // kept part
	Result  proc.Result
	Now     time.Time
	RawOK   bool  // Config.RawOutput
	Strip   bool  // remove a fence around the answer
	Left    error // why something may be left in a container
	Lost    bool  // not all that was printed could be read
	Secrets *plaintext.Redactor
}

// Judge judges the runs of one spec. It never changes, so it is safe for
// concurrent use.
type Judge struct {
	spec  *clispec.Spec
	Lines LineProgram
}

// New makes the judge of a spec that passed Validate.
func New(spec *clispec.Spec) *Judge { return &Judge{spec, CompileLines(spec.Lines)} }

// Verdict is what a run came to: an answer or an error.
type Verdict struct {
	Text     string
	Err      *call.Error
	BrokeOff bool // the stream ended well, but before its last event
	Acted    bool // with write access: a tool may have changed something
}

// Verdict decides what a run came to. What decides, in this order: the terminal
// event, why clichain ended the run, error events, stderr, stdout, the exit
// status. Exit status 0 alone is no success where the CLI has a terminal event.
func (j *Judge) Verdict(ev *Evidence) Verdict {
	v := j.decide(ev)
	if ev.Strip {
		v.Text = plaintext.StripFence(v.Text)
	}
	if v.Err == nil && strings.TrimSpace(v.Text) == "" {
		v.Err = ev.failure(call.ReasonEmpty, "the run succeeded with an empty answer")
	}
	if v.Err != nil {
		j.Complete(v.Err, ev)
		v.Text = ""
	}
	return v
}

func (j *Judge) decide(ev *Evidence) Verdict {
	t := ev.Tally
	switch {
	case t.Fatal != nil:
		return Verdict{Err: ev.found(*t.Fatal)}
	case t.succeeded():
		if ev.Result.Cause == nil && ev.Result.ExitCode != 0 {
			t.Warn(fmt.Sprintf("the CLI answered, then exited with status %d", ev.Result.ExitCode))
		}
		return Verdict{Text: t.AnswerText()}
	case t.Terminal != nil && t.Terminal.Partial && strings.TrimSpace(t.partial()) != "":
		t.mark(call.FlagTruncated, "the answer was cut short: "+errorText(&t.Terminal.Event))
		return Verdict{Text: t.partial()}
	case t.Terminal != nil:
		return Verdict{Err: j.failed(ev, t.Terminal)}
	case ev.Result.Cause != nil:
		return Verdict{Err: j.ended(ev)}
	case ev.Output == clispec.OutputText && ev.Result.ExitCode == 0:
		return Verdict{Text: strings.TrimSpace(plaintext.Escapes.ReplaceAllString(ev.Stdout, ""))}
	case ev.RawOK && ev.Result.ExitCode == 0 && ev.Result.Signal == "" && strings.TrimSpace(ev.Stray) != "":
		t.mark(call.FlagRawOutput, "the output could not be read; this is all of it as it came")
		return Verdict{Text: strings.TrimSpace(ev.Stray)}
	}
	v := j.Unexplained(ev)
	if text := t.text.String(); v.BrokeOff && strings.TrimSpace(text) != "" {
		t.mark(call.FlagTruncated, "the stream broke off without its last event; the text may not be whole")
		return Verdict{Text: text}
	}
	return v
}

// failed judges a run whose terminal event is an error. Where that says nothing,
// the error events before it may.
func (j *Judge) failed(ev *Evidence, last *Sign) *call.Error {
	candidates := append([]Sign{*last}, ev.Tally.Failures...)
	for i := range candidates {
		if f, ok := j.JudgeEvent(&candidates[i], ev.Now); ok {
			return ev.found(f)
		}
	}
	if err := j.byTexts(ev); err != nil {
		return err
	}
	message := errorText(&last.Event)
	if n := len(ev.Tally.Failures); message == "" && n > 0 {
		message = errorText(&ev.Tally.Failures[n-1].Event)
	}
	return ev.failure(cmp.Or(j.spec.ExitCodes[ev.Result.ExitCode], call.ReasonBadOutput), message)
}

// ended judges a run that clichain ended. What the CLI was retrying at that time
// is a better reason than the timeout, which stays in the error chain.
func (j *Judge) ended(ev *Evidence) *call.Error {
	cause := ev.Result.Cause
	err := ev.failure(ReasonOfCause(cause), "")
	if _, timed := errors.AsType[*Stop](cause); timed || err.Reason == call.ReasonTimeout || errors.Is(cause, ErrMovedOn) {
		if f, ok := j.retried(ev); ok {
			err = ev.found(f)
		}
	}
	err.Err = cause
	return err
}

// retried is the failure after which the CLI was trying again.
func (j *Judge) retried(ev *Evidence) (Finding, bool) {
	for _, e := range []*Sign{ev.Tally.retry, ev.Tally.limit} {
		if e != nil && e.Found.Reason != "" {
			return e.Found, true
		}
	}
	return j.lastFailure(ev)
}

// lastFailure is the latest error event that a reason is known for.
func (j *Judge) lastFailure(ev *Evidence) (Finding, bool) {
	for i := range slices.Backward(ev.Tally.Failures) {
		if f, ok := j.JudgeEvent(&ev.Tally.Failures[i], ev.Now); ok {
			return f, true
		}
	}
	return Finding{}, false
}

// Unexplained judges a run that ended by itself without a terminal event.
func (j *Judge) Unexplained(ev *Evidence) Verdict {
	if f, ok := j.lastFailure(ev); ok {
		return Verdict{Err: ev.found(f)}
	}
	if err := j.byTexts(ev); err != nil {
		return Verdict{Err: err}
	}
	if reason, ok := j.spec.ExitCodes[ev.Result.ExitCode]; ok {
		return Verdict{Err: ev.failure(reason, plaintext.LastLine(ev.Stderr))}
	}
	switch {
	case ev.Result.Signal != "":
		return Verdict{Err: ev.failure(call.ReasonKilled, "ended by a signal from elsewhere: "+ev.Result.Signal)}
	case ev.Result.ExitCode != 0:
		return Verdict{Err: ev.failure(call.ReasonExit, "")}
	}
	if f, ok := j.retried(ev); ok && ev.Tally.text.Len() == 0 {
		return Verdict{Err: ev.found(f)}
	}
	return Verdict{
		Err:      ev.failure(call.ReasonBadOutput, "exited with status 0 and no result"),
		BrokeOff: ev.Output == clispec.OutputStream && ev.Tally.known && len(ev.Tally.Failures) == 0,
	}
}

// byTexts looks through stderr, then through what is no JSON on stdout.
func (j *Judge) byTexts(ev *Evidence) *call.Error {
	recovered := ev.Tally.recovered && ev.Tally.retry == nil
	f, ok := j.JudgeText(clispec.OnStderr, j.Lines.relevant(ev.Stderr, recovered), ev.Now)
	if !ok {
		// Clean before a message is cut out of it, and a secret with it.
		f, ok = j.JudgeText(clispec.OnStdout, ev.Secrets.Clean(ev.plainStdout()), ev.Now)
	}
	if !ok {
		return nil
	}
	return ev.found(f)
}

// JSONStart matches a line that begins like JSON, whole or cut short.
var JSONStart = regexp.MustCompile(`^[\s\x{feff}]*(?:\{|\[\s*(?:\{|$))`)

// plainStdout is the stdout of a failed run that may explain the failure. JSON is
// left out even where it does not parse: it may hold the model's own text.
func (ev *Evidence) plainStdout() string {
	if ev.Output == clispec.OutputText {
		return ev.Stdout
	}
	var b strings.Builder
	for line := range strings.Lines(ev.Stray) {
		switch {
		case !JSONStart.MatchString(line):
			b.WriteString(line)
		case ev.Output == clispec.OutputJSON:
			return b.String() // the rest belongs to the document
		}
	}
	return b.String()
}

func (ev *Evidence) found(f Finding) *call.Error {
	err := ev.failure(f.Reason, f.Message)
	err.Hint, err.RetryAfter = f.Hint, f.RetryAfter
	return err
}

func (ev *Evidence) failure(reason call.Reason, message string) *call.Error {
	return &call.Error{Reason: reason, Message: plaintext.OneLine(message), ExitCode: ev.Result.ExitCode}
}

// Complete sets the fields that the error of every failed run has.
func (j *Judge) Complete(err *call.Error, ev *Evidence) {
	err.Backend, err.Stderr, err.Usage, err.Stage = j.spec.Name, ev.Stderr, ev.Tally.Total(), call.StageStarted
	err.Partial = ev.Tally.partial()
	err.Hint = cmp.Or(err.Hint, j.spec.Hints[err.Reason])
	if err.Reason == call.ReasonUsageLimit || err.Reason == call.ReasonRateLimited {
		err.RetryAfter = ev.Tally.limitEnd(err.RetryAfter, ev.Now)
	}
}

// Stop is why clichain ended a run after a time: the cause of the context that
// the process runs under.
type Stop struct {
	Reason call.Reason
	After  time.Duration
}

// Error gives the reason and the time, rounded to milliseconds.
func (e *Stop) Error() string {
	return fmt.Sprintf("%s after %v", e.Reason, e.After.Round(time.Millisecond))
}

// Is lets errors.Is find the sentinel error of the Reason in an error chain, and
// for a timeout the error of a deadline, whoever set it.
func (e *Stop) Is(target error) bool {
	return target == e.Reason.Err() || e.Reason == call.ReasonTimeout && target == context.DeadlineExceeded
}

// End is why the caller's context ended: its cause, in which errors.Is also
// finds the context's own error, which says whether it was a deadline. Nil: it
// has not.
func End(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ctx.Err()) {
		return cause
	}
	return &end{cause, ctx.Err()}
}

type end struct{ cause, err error }

func (e *end) Error() string   { return e.cause.Error() }
func (e *end) Unwrap() []error { return []error{e.cause, e.err} }

// The other causes for which a run is ended.
var (
	ErrMovedOn  = errors.New("given up for the next backend, rather than wait for the CLI's own retries")
	ErrAnswered = errors.New("the process went on after its last event")
	ErrFatal    = errors.New("the run could not go on")
)

// ReasonOfCause is the reason of a run that was ended from outside, by the cause
// of its context; a cause of any other kind is a cancellation.
func ReasonOfCause(cause error) call.Reason {
	if stop, ok := errors.AsType[*Stop](cause); ok {
		return stop.Reason
	}
	if _, ok := errors.AsType[*proc.PanicError](cause); ok {
		return call.ReasonBadOutput
	}
	switch {
	case errors.Is(cause, proc.ErrOutputLimit):
		return call.ReasonOutputLimit
	case errors.Is(cause, proc.ErrReapLost):
		return call.ReasonExit
	case errors.Is(cause, ErrMovedOn):
		return call.ReasonServerError // the CLI retried and did not say why
	case errors.Is(cause, context.DeadlineExceeded):
		return call.ReasonTimeout
	}
	return call.ReasonCanceled
}
