// Package judge decides the result of a run, an answer or a failure, from its events, its texts, its exit code
// and the cause of its end. It knows no CLI by name, starts nothing and does no I/O: the same evidence gives
// the same verdict.
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

// Evidence is everything that the verdict on a run is based on.
type Evidence struct {
	Output  clispec.OutputMode
	Tally   *Tally
	Stdout  string // captured part
	Stray   string // lines of stdout that are not JSON, in the JSON modes
	Plain   string // text in Stray that may be the CLI's own
	Events  bool   // text mode printed events instead of an answer
	Stderr  string // captured part
	Said    string // text in Stderr that is the CLI's own
	Result  proc.Result
	Now     time.Time
	RawOK   bool  // Config.RawOutput
	Strip   bool  // remove a code fence around the answer
	Redact  bool  // Config.RedactAnswers
	Left    error // why processes may be left in a container
	Lost    bool  // some output could not be read
	Secrets *plaintext.Redactor
}

// Judge judges the runs of one spec. It is immutable, so it is safe for concurrent use.
type Judge struct {
	spec       *clispec.Spec
	Lines      LineProgram
	onStdout   LineProgram // rules that name stdout
	Transcript *Transcript
	windows    []windowRow
}

// New returns the judge of a spec that passed Validate.
func New(spec *clispec.Spec) *Judge {
	lines := CompileLines(spec.Lines)
	windows := compileWindows(spec.Quota.Windows)
	return &Judge{spec, lines, lines.naming(clispec.OnStdout), NewTranscript(spec.Text), windows}
}

// Verdict is the result of a run: an answer or an error.
type Verdict struct {
	Text     string
	Err      *call.Error
	BrokeOff bool // the stream ended without an error, but before its last event
	Acted    bool // with write access, a tool may have changed something
}

// Verdict decides the result of a run. The evidence, in order of precedence: the terminal event, the cause with
// which clichain stopped the run, error events, stderr, stdout, the exit code. If the CLI has a terminal event,
// exit code 0 alone is not a success.
//
// A run is never a success if the CLI ended after reading only part of its input. The same applies if clichain
// stopped it before it had read all of the input. In both cases, the answer is for a different prompt.
func (j *Judge) Verdict(ev *Evidence) Verdict {
	v := j.decide(ev)
	switch {
	case v.Err != nil || !ev.Result.Undelivered:
	case ev.Result.Untouched && ev.endedByItself():
		ev.Tally.Warn("the CLI answered without reading standard input, which contained the prompt")
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

// redact removes secrets from the model's text, if the configuration requires it.
func (ev *Evidence) redact(text string) string {
	if !ev.Redact {
		return text
	}
	cleaned := ev.Secrets.CleanDisguised(text)
	if cleaned != text {
		ev.Tally.mark(call.FlagRedacted, "secrets of the environment were redacted from the answer")
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
		return Verdict{Err: ev.failure(call.ReasonBadOutput, "text mode printed events instead of an answer")}
	case ev.Output == clispec.OutputText && ev.Result.ExitCode == 0:
		return Verdict{Text: strings.TrimSpace(plaintext.Escapes().ReplaceAllString(ev.Stdout, ""))}
	case ev.RawOK && ev.Result.ExitCode == 0 && ev.Result.Signal == "" && strings.TrimSpace(ev.Stray) != "":
		t.mark(call.FlagRawOutput, "the output could not be parsed; the answer is the raw output")
		return Verdict{Text: strings.TrimSpace(ev.Stray)}
	}
	v := j.Unexplained(ev)
	if text := t.text.String(); v.BrokeOff && strings.TrimSpace(text) != "" {
		t.mark(call.FlagTruncated, "the stream broke off without its last event; the text may be incomplete")
		return Verdict{Text: text}
	}
	return v
}

func (ev *Evidence) found(f Finding) *call.Error {
	err := ev.failure(f.Reason, f.Message)
	err.Hint, err.Advice, err.RetryAfter = f.Hint, f.Advice, f.RetryAfter
	return err
}

// AddHint sets the hint of an error that has neither a hint nor advice.
func AddHint(err *call.Error, hint string) {
	if err.Hint == "" && len(err.Advice) == 0 {
		err.Hint = hint
	}
}

func (ev *Evidence) failure(reason call.Reason, message string) *call.Error {
	return &call.Error{Reason: reason, Message: plaintext.OneLine(message), ExitCode: ev.Result.ExitCode}
}

// maxPartial limits the partial text in an error, in bytes. It is more than the longest answer of any model, so
// it only cuts endless repetition.
const maxPartial = 1 << 20

// Complete sets the fields that the error of every failed run has.
func (j *Judge) Complete(err *call.Error, ev *Evidence) {
	err.Backend, err.Usage, err.Stage = j.spec.Name, ev.Tally.Total(), call.StageStarted
	err.Stderr = strings.TrimSpace(ev.Stderr)
	if err.Partial = ev.redact(ev.Tally.partial()); len(err.Partial) > maxPartial {
		err.Partial = strings.Clone(strings.ToValidUTF8(err.Partial[:maxPartial], "")) // allows the rest to be freed
	}
	err.Warnings = ev.Tally.Warnings
	AddHint(err, j.spec.Hints[err.Reason])
	if err.Reason == call.ReasonUsageLimit || err.Reason == call.ReasonRateLimited {
		err.RetryAfter = ev.Tally.limitEnd(err.RetryAfter, ev.Now)
	}
}

// Stop is the error with which clichain stops a run after a time. It is the cause of the context of the
// process.
type Stop struct {
	Reason call.Reason
	After  time.Duration
}

// Within returns ctx with a time limit whose end is a timeout. Call cancel at the end.
func Within(ctx context.Context, limit time.Duration) (_ context.Context, cancel context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, &Stop{Reason: call.ReasonTimeout, After: limit})
}

// Error includes the reason and the time, rounded to milliseconds.
func (e *Stop) Error() string {
	return fmt.Sprintf("%s after %v", e.Reason, e.After.Round(time.Millisecond))
}

// Is makes errors.Is match the sentinel error of the Reason. A timeout also matches context.DeadlineExceeded.
func (e *Stop) Is(target error) bool {
	return target == e.Reason.Err() || e.Reason == call.ReasonTimeout && target == context.DeadlineExceeded
}

// End returns the cause of the end of ctx, or nil if ctx has not ended. If the cause does not show whether it
// was a deadline, the returned error also wraps ctx.Err().
func End(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, ctx.Err()) || errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return &end{cause, ctx.Err()}
}

// Ended returns cause, or the result of [End] if cause is the cause of ctx.
func Ended(ctx context.Context, cause error) error {
	if cause != nil && same(cause, context.Cause(ctx)) {
		return End(ctx)
	}
	return cause
}

// same compares two errors. An error of a caller may have a type that is not comparable.
func same(a, b error) bool {
	if !reflect.ValueOf(b).Comparable() {
		return reflect.TypeOf(a) == reflect.TypeOf(b)
	}
	return a == b
}

type end struct{ cause, err error }

func (e *end) Error() string   { return e.cause.Error() }
func (e *end) Unwrap() []error { return []error{e.cause, e.err} }

// The other causes with which clichain stops a run.
var (
	ErrMovedOn  = errors.New("stopped in favor of the next backend, instead of waiting for the CLI's own retries")
	ErrAnswered = errors.New("the process kept running after its last event")
	ErrFatal    = errors.New("the run could not continue")
)

// ReasonOfCause returns the reason of a run that was stopped, given the cause of its context. The reason of any
// other cause is a cancellation.
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
