// Package judge decides what a run came to: an answer, or which failure, by the
// run's events, texts, exit status and the cause of its end. It knows no CLI by
// name, starts nothing and does no I/O: the same evidence gives the same verdict.
package judge

import (
	"context"
	"errors"
	"fmt"
	"reflect"
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
	Plain   string // what the CLI itself may have said in them
	Events  bool   // text mode printed events in place of an answer
	Stderr  string // kept part
	Said    string // what the CLI itself says of that
	Result  proc.Result
	Now     time.Time
	RawOK   bool  // Config.RawOutput
	Strip   bool  // remove a fence around the answer
	Redact  bool  // Config.RedactAnswers
	Left    error // why something may be left in a container
	Lost    bool  // not all that was printed could be read
	Secrets *plaintext.Redactor
}

// Judge judges the runs of one spec. It never changes, so it is safe for
// concurrent use.
type Judge struct {
	spec       *clispec.Spec
	Lines      LineProgram
	onStdout   LineProgram // those that name it
	Transcript *Transcript
}

// New makes the judge of a spec that passed Validate.
func New(spec *clispec.Spec) *Judge {
	lines := CompileLines(spec.Lines)
	return &Judge{spec, lines, lines.naming(clispec.OnStdout), NewTranscript(spec.Text)}
}

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
// Nothing is a success if the CLI had read a part of its input by its end, or had not
// read all of it when clichain ended the run: it has answered another prompt.
func (j *Judge) Verdict(ev *Evidence) Verdict {
	v := j.decide(ev)
	switch {
	case v.Err != nil || !ev.Result.Undelivered:
	case ev.Result.Untouched && ev.endedByItself():
		ev.Tally.Warn("it answered without reading its standard input, which had the prompt")
	default:
		v = Verdict{Err: j.unheard(ev)}
	}
	if ev.Strip {
		v.Text = plaintext.StripFence(v.Text)
	}
	v.Text = ev.redact(v.Text)
	if v.Err == nil && strings.TrimSpace(v.Text) == "" {
		v.Err = ev.failure(call.ReasonEmpty, "the run succeeded with an empty answer")
	}
	if v.Err != nil {
		j.Complete(v.Err, ev)
		v.Text = ""
	}
	return v
}

// redact takes secrets out of the model's words, where that is asked for.
func (ev *Evidence) redact(text string) string {
	if !ev.Redact {
		return text
	}
	cleaned := ev.Secrets.CleanDisguised(text)
	if cleaned != text {
		ev.Tally.mark(call.FlagRedacted, "secrets of the environment were taken out of the answer")
	}
	return cleaned
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
	case t.Terminal != nil && !j.echo(ev):
		return Verdict{Err: j.failed(ev)}
	case ev.Result.Cause != nil:
		return Verdict{Err: j.ended(ev)}
	case ev.Events && ev.Result.ExitCode == 0:
		return Verdict{Err: ev.failure(call.ReasonBadOutput, "text mode printed events in place of an answer")}
	case ev.Output == clispec.OutputText && ev.Result.ExitCode == 0:
		return Verdict{Text: strings.TrimSpace(plaintext.Escapes().ReplaceAllString(ev.Stdout, ""))}
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

func (ev *Evidence) found(f Finding) *call.Error {
	err := ev.failure(f.Reason, f.Message)
	err.Hint, err.Advice, err.RetryAfter = f.Hint, f.Advice, f.RetryAfter
	return err
}

// AddHint adds a hint to an error that tells nothing better.
func AddHint(err *call.Error, hint string) {
	if err.Hint == "" && len(err.Advice) == 0 {
		err.Hint = hint
	}
}

func (ev *Evidence) failure(reason call.Reason, message string) *call.Error {
	return &call.Error{Reason: reason, Message: plaintext.OneLine(message), ExitCode: ev.Result.ExitCode}
}

// maxPartial bounds the text that an error keeps, in bytes: more than any model
// answers, so that only what a CLI repeats without end is cut.
const maxPartial = 1 << 20

// Complete sets the fields that the error of every failed run has.
func (j *Judge) Complete(err *call.Error, ev *Evidence) {
	err.Backend, err.Usage, err.Stage = j.spec.Name, ev.Tally.Total(), call.StageStarted
	err.Stderr = strings.TrimSpace(ev.Stderr)
	if err.Partial = ev.redact(ev.Tally.partial()); len(err.Partial) > maxPartial {
		err.Partial = strings.Clone(strings.ToValidUTF8(err.Partial[:maxPartial], "")) // so that the rest can be freed
	}
	err.Warnings = ev.Tally.Warnings
	AddHint(err, j.spec.Hints[err.Reason])
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

// Within is ctx with a limit, the end of which is a timeout. Call cancel at the end.
func Within(ctx context.Context, limit time.Duration) (_ context.Context, cancel context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, &Stop{Reason: call.ReasonTimeout, After: limit})
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
// finds the context's own error, which says whether it was a deadline, unless the
// cause is one that says so. Nil: it has not.
func End(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ctx.Err()) || errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return &end{cause, ctx.Err()}
}

// Ended is the cause of an end, told by [End] where it is the context's own.
func Ended(ctx context.Context, cause error) error {
	if cause != nil && same(cause, context.Cause(ctx)) {
		return End(ctx)
	}
	return cause
}

// same compares errors, of which a caller's may be of a type that cannot be compared.
func same(a, b error) bool {
	if !reflect.ValueOf(b).Comparable() {
		return reflect.TypeOf(a) == reflect.TypeOf(b)
	}
	return a == b
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
	case errors.Is(cause, context.DeadlineExceeded):
		return call.ReasonTimeout
	}
	return call.ReasonCanceled
}
