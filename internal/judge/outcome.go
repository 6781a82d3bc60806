package judge

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
)

// Evidence is all there is to judge a run by.
type Evidence struct {
	Output  clispec.OutputMode
	Tally   *Tally
	Stdout  string // kept part
	Stray   string // lines of stdout that are no JSON, for the modes that are
	Stderr  string // kept part
	Result  proc.Result
	Now     time.Time
	RawOK   bool // Config.RawOutput
	Strip   bool // remove a fence around the answer
	Secrets *plaintext.Redactor
	Left    error // why something may be left in a container
}

// Judge judges the runs of one spec. It is never changed.
type Judge struct {
	spec  *clispec.Spec
	Lines lineProgram
}

// New needs a spec that passed Validate.
func New(spec *clispec.Spec) *Judge { return &Judge{spec, CompileLines(spec.Lines)} }

// Verdict is what a run came to: an answer or an error.
type Verdict struct {
	Text     string
	Err      *call.Error
	BrokeOff bool // the stream ended well, but before its last event
}

// Verdict decides what a run was. In order of trust: the terminal event, why
// we ended the run, error events, stderr, stdout, the exit status. Exit 0
// alone proves nothing where the CLI has a terminal event.
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
		noteOddities(ev)
		return Verdict{Text: t.AnswerText()}
	case t.Terminal != nil && t.Terminal.Partial && strings.TrimSpace(t.soFar()) != "":
		t.mark(call.FlagTruncated, "the answer was cut short: "+errorText(&t.Terminal.Event))
		return Verdict{Text: t.soFar()}
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

// noteOddities turns what does not fit a success into warnings.
func noteOddities(ev *Evidence) {
	if ev.Result.Cause == nil && ev.Result.ExitCode != 0 {
		ev.Tally.Warn(fmt.Sprintf("the CLI answered, then exited with status %d", ev.Result.ExitCode))
	}
}

// failed judges a run whose last word is an error. The first error event may
// say more than the last word does.
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
	said := errorText(&last.Event)
	if n := len(ev.Tally.Failures); said == "" && n > 0 {
		said = errorText(&ev.Tally.Failures[n-1].Event)
	}
	return ev.failure(cmp.Or(j.spec.ExitCodes[ev.Result.ExitCode], call.ReasonBadOutput), said)
}

// ended judges a run that we ended. What the CLI was retrying at that time
// says more than the clock does; the clock stays in the error's chain.
func (j *Judge) ended(ev *Evidence) *call.Error {
	cause := ev.Result.Cause
	err := ev.failure(ReasonOfCause(cause), "")
	if _, ours := errors.AsType[*Stop](cause); ours || errors.Is(cause, ErrMovedOn) {
		if f, ok := j.retried(ev); ok {
			err = ev.found(f)
		}
	}
	err.Err = cause
	return err
}

// retried says what the CLI was silently trying again.
func (j *Judge) retried(ev *Evidence) (Finding, bool) {
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
func (j *Judge) Unexplained(ev *Evidence) Verdict {
	failures := ev.Tally.Failures
	for i := len(failures) - 1; i >= 0; i-- {
		if f, ok := j.JudgeEvent(&failures[i], ev.Now); ok {
			return Verdict{Err: ev.found(f)}
		}
	}
	if err := j.byTexts(ev); err != nil {
		return Verdict{Err: err}
	}
	if reason, ok := j.spec.ExitCodes[ev.Result.ExitCode]; ok {
		return Verdict{Err: ev.failure(reason, plaintext.LastLine(ev.Stderr))}
	}
	switch {
	case ev.Result.Signal != "":
		return Verdict{Err: ev.failure(call.ReasonKilled, fmt.Sprintf("ended by a signal from elsewhere: %s", ev.Result.Signal))}
	case ev.Result.ExitCode != 0:
		return Verdict{Err: ev.failure(call.ReasonExit, "")}
	}
	if f, ok := j.retried(ev); ok && ev.Tally.text.Len() == 0 {
		return Verdict{Err: ev.found(f)}
	}
	return Verdict{
		Err:      ev.failure(call.ReasonBadOutput, "exited with status 0 and no result"),
		BrokeOff: ev.Output == clispec.OutputStream && ev.Tally.known && len(failures) == 0,
	}
}

// byTexts looks through stderr, then through what is no JSON on stdout.
func (j *Judge) byTexts(ev *Evidence) *call.Error {
	for _, text := range []struct {
		on   clispec.Evidence
		text string
	}{{clispec.OnStderr, j.Lines.telling(ev.Stderr, ev.Tally.gotOver())}, {clispec.OnStdout, ev.words()}} {
		if f, ok := j.JudgeText(text.on, text.text, ev.Now); ok {
			return ev.found(f)
		}
	}
	return nil
}

// JsonStart begins a line of JSON, whole or cut short.
var JsonStart = regexp.MustCompile(`^[\s\x{feff}]*(?:\{|\[\s*(?:\{|$))`)

// words is the stdout of a failed run that may explain the failure. JSON is
// left out even where it does not parse: it may hold the model's own text.
func (ev *Evidence) words() string {
	if ev.Output == clispec.OutputText {
		return ev.Stdout
	}
	var b strings.Builder
	for line := range strings.Lines(ev.Stray) {
		switch {
		case !JsonStart.MatchString(line):
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

// Complete adds what every failure of a run carries.
func (j *Judge) Complete(err *call.Error, ev *Evidence) {
	err.Backend, err.Stderr, err.Usage, err.Stage = j.spec.Name, ev.Stderr, ev.Tally.Total(), call.StageStarted
	err.Partial = ev.Tally.soFar()
	err.Hint = cmp.Or(err.Hint, j.spec.Hints[err.Reason])
	if err.Reason == call.ReasonUsageLimit || err.Reason == call.ReasonRateLimited {
		err.RetryAfter = ev.Tally.limitEnd(err.RetryAfter, ev.Now)
	}
}
