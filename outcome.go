package clichain

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/clichain/clichain/internal/proc"
)

// evidence is all there is to judge a run by.
type evidence struct {
	Output  OutputMode
	Tally   *tally
	Stdout  string // kept part
	Stray   string // lines of stdout that are no JSON, for the modes that are
	Stderr  string // kept part
	Result  proc.Result
	Now     time.Time
	RawOK   bool // Config.RawOutput
	Strip   bool // remove a fence around the answer
	Secrets *redactor
	Left    error // why something may be left in a container
}

// Judge judges the runs of one spec. It is never changed.
type Judge struct {
	spec  *CliSpec
	Lines lineProgram
}

// NewJudge needs a spec that passed Validate.
func NewJudge(spec *CliSpec) *Judge { return &Judge{spec, compileLines(spec.Lines)} }

// verdict is what a run came to: an answer or an error.
type verdict struct {
	Text     string
	Err      *BackendError
	BrokeOff bool // the stream ended well, but before its last event
}

// Verdict decides what a run was. In order of trust: the terminal event, why
// we ended the run, error events, stderr, stdout, the exit status. Exit 0
// alone proves nothing where the CLI has a terminal event.
func (j *Judge) Verdict(ev *evidence) verdict {
	v := j.decide(ev)
	if ev.Strip {
		v.Text = stripFence(v.Text)
	}
	if v.Err == nil && strings.TrimSpace(v.Text) == "" {
		v.Err = ev.failure(ReasonEmpty, "the run succeeded with an empty answer")
	}
	if v.Err != nil {
		j.Complete(v.Err, ev)
		v.Text = ""
	}
	return v
}

func (j *Judge) decide(ev *evidence) verdict {
	t := ev.Tally
	switch {
	case t.Fatal != nil:
		return verdict{Err: ev.found(*t.Fatal)}
	case t.succeeded():
		noteOddities(ev)
		return verdict{Text: t.AnswerText()}
	case t.Terminal != nil && t.Terminal.Partial && strings.TrimSpace(t.soFar()) != "":
		t.mark(FlagTruncated, "the answer was cut short: "+errorText(&t.Terminal.Event))
		return verdict{Text: t.soFar()}
	case t.Terminal != nil:
		return verdict{Err: j.failed(ev, t.Terminal)}
	case ev.Result.Cause != nil:
		return verdict{Err: j.ended(ev)}
	case ev.Output == OutputText && ev.Result.ExitCode == 0:
		return verdict{Text: strings.TrimSpace(escapes.ReplaceAllString(ev.Stdout, ""))}
	case ev.RawOK && ev.Result.ExitCode == 0 && ev.Result.Signal == "" && strings.TrimSpace(ev.Stray) != "":
		t.mark(FlagRawOutput, "the output could not be read; this is all of it as it came")
		return verdict{Text: strings.TrimSpace(ev.Stray)}
	}
	v := j.Unexplained(ev)
	if text := t.text.String(); v.BrokeOff && strings.TrimSpace(text) != "" {
		t.mark(FlagTruncated, "the stream broke off without its last event; the text may not be whole")
		return verdict{Text: text}
	}
	return v
}

// noteOddities turns what does not fit a success into warnings.
func noteOddities(ev *evidence) {
	if ev.Result.Cause == nil && ev.Result.ExitCode != 0 {
		ev.Tally.Warn(fmt.Sprintf("the CLI answered, then exited with status %d", ev.Result.ExitCode))
	}
}

// failed judges a run whose last word is an error. The first error event may
// say more than the last word does.
func (j *Judge) failed(ev *evidence, last *Sign) *BackendError {
	candidates := append([]Sign{*last}, ev.Tally.Failures...)
	for i := range candidates {
		if f, ok := j.JudgeEvent(&candidates[i], ev.Now); ok {
			return ev.found(f)
		}
	}
	if err := j.byTexts(ev); err != nil {
		return err
	}
	said := errorText(&last.Event)
	if n := len(ev.Tally.Failures); said == "" && n > 0 {
		said = errorText(&ev.Tally.Failures[n-1].Event)
	}
	return ev.failure(cmp.Or(j.spec.ExitCodes[ev.Result.ExitCode], ReasonBadOutput), said)
}

// ended judges a run that we ended. What the CLI was retrying at that time
// says more than the clock does; the clock stays in the error's chain.
func (j *Judge) ended(ev *evidence) *BackendError {
	cause := ev.Result.Cause
	err := ev.failure(reasonOfCause(cause), "")
	if _, ours := errors.AsType[*stopError](cause); ours || errors.Is(cause, errMovedOn) {
		if f, ok := j.retried(ev); ok {
			err = ev.found(f)
		}
	}
	err.Err = cause
	return err
}

// retried says what the CLI was silently trying again.
func (j *Judge) retried(ev *evidence) (Finding, bool) {
	for _, e := range []*Sign{ev.Tally.retry, ev.Tally.limit} {
		if e != nil && e.Found.Reason != "" {
			return e.Found, true
		}
	}
	for i := len(ev.Tally.Failures) - 1; i >= 0; i-- {
		if f, ok := j.JudgeEvent(&ev.Tally.Failures[i], ev.Now); ok {
			return f, true
		}
	}
	return Finding{}, false
}

// Unexplained judges a run that ended by itself without a last word.
func (j *Judge) Unexplained(ev *evidence) verdict {
	failures := ev.Tally.Failures
	for i := len(failures) - 1; i >= 0; i-- {
		if f, ok := j.JudgeEvent(&failures[i], ev.Now); ok {
			return verdict{Err: ev.found(f)}
		}
	}
	if err := j.byTexts(ev); err != nil {
		return verdict{Err: err}
	}
	if reason, ok := j.spec.ExitCodes[ev.Result.ExitCode]; ok {
		return verdict{Err: ev.failure(reason, lastLine(ev.Stderr))}
	}
	switch {
	case ev.Result.Signal != "":
		return verdict{Err: ev.failure(ReasonKilled, fmt.Sprintf("ended by a signal from elsewhere: %s", ev.Result.Signal))}
	case ev.Result.ExitCode != 0:
		return verdict{Err: ev.failure(ReasonExit, "")}
	}
	if f, ok := j.retried(ev); ok && ev.Tally.text.Len() == 0 {
		return verdict{Err: ev.found(f)}
	}
	return verdict{
		Err:      ev.failure(ReasonBadOutput, "exited with status 0 and no result"),
		BrokeOff: ev.Output == OutputStream && ev.Tally.known && len(failures) == 0,
	}
}

// byTexts looks through stderr, then through what is no JSON on stdout.
func (j *Judge) byTexts(ev *evidence) *BackendError {
	for _, text := range []struct {
		on   Evidence
		text string
	}{{OnStderr, j.Lines.telling(ev.Stderr, ev.Tally.gotOver())}, {OnStdout, ev.words()}} {
		if f, ok := j.JudgeText(text.on, text.text, ev.Now); ok {
			return ev.found(f)
		}
	}
	return nil
}

// jsonStart begins a line of JSON, whole or cut short.
var jsonStart = regexp.MustCompile(`^[\s\x{feff}]*(?:\{|\[\s*(?:\{|$))`)

// words is the stdout of a failed run that may explain the failure. JSON is
// left out even where it does not parse: it may hold the model's own text.
func (ev *evidence) words() string {
	if ev.Output == OutputText {
		return ev.Stdout
	}
	var b strings.Builder
	for line := range strings.Lines(ev.Stray) {
		switch {
		case !jsonStart.MatchString(line):
			b.WriteString(line)
		case ev.Output == OutputJSON:
			return b.String() // the rest belongs to the document
		}
	}
	return b.String()
}

func (ev *evidence) found(f Finding) *BackendError {
	err := ev.failure(f.Reason, f.Message)
	err.Hint, err.RetryAfter = f.Hint, f.RetryAfter
	return err
}

func (ev *evidence) failure(reason Reason, message string) *BackendError {
	return &BackendError{Reason: reason, Message: oneLine(message), ExitCode: ev.Result.ExitCode}
}

// Complete adds what every failure of a run carries.
func (j *Judge) Complete(err *BackendError, ev *evidence) {
	err.Backend, err.Stderr, err.Usage, err.Stage = j.spec.Name, ev.Stderr, ev.Tally.Total(), StageStarted
	err.Partial = ev.Tally.soFar()
	err.Hint = cmp.Or(err.Hint, j.spec.Hints[err.Reason])
	if err.Reason == ReasonUsageLimit || err.Reason == ReasonRateLimited {
		err.RetryAfter = ev.Tally.limitEnd(err.RetryAfter, ev.Now)
	}
}
