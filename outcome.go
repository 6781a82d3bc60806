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
	output  OutputMode
	tally   *tally
	stdout  string // kept part
	stray   string // lines of stdout that are no JSON, for the modes that are
	stderr  string // kept part
	result  proc.Result
	now     time.Time
	rawOK   bool // Config.RawOutput
	strip   bool // remove a fence around the answer
	secrets *redactor
	left    error // why something may be left in a container
}

// judge judges the runs of one spec. It is never changed.
type judge struct {
	spec  *CliSpec
	lines lineProgram
}

// newJudge needs a spec that passed Validate.
func newJudge(spec *CliSpec) *judge { return &judge{spec, compileLines(spec.Lines)} }

// verdict is what a run came to: an answer or an error.
type verdict struct {
	text     string
	err      *BackendError
	brokeOff bool // the stream ended well, but before its last event
}

// verdictOf decides what a run was. In order of trust: the terminal event, why
// we ended the run, error events, stderr, stdout, the exit status. Exit 0
// alone proves nothing where the CLI has a terminal event.
func (j *judge) verdictOf(ev *evidence) verdict {
	v := j.judge(ev)
	if ev.strip {
		v.text = stripFence(v.text)
	}
	if v.err == nil && strings.TrimSpace(v.text) == "" {
		v.err = ev.failure(ReasonEmpty, "the run succeeded with an empty answer")
	}
	if v.err != nil {
		j.complete(v.err, ev)
		v.text = ""
	}
	return v
}

func (j *judge) judge(ev *evidence) verdict {
	t := ev.tally
	switch {
	case t.fatal != nil:
		return verdict{err: ev.found(*t.fatal)}
	case t.succeeded():
		noteOddities(ev)
		return verdict{text: t.answerText()}
	case t.terminal != nil && t.terminal.partial && strings.TrimSpace(t.soFar()) != "":
		t.mark(FlagTruncated, "the answer was cut short: "+errorText(&t.terminal.Event))
		return verdict{text: t.soFar()}
	case t.terminal != nil:
		return verdict{err: j.failed(ev, t.terminal)}
	case ev.result.Cause != nil:
		return verdict{err: j.ended(ev)}
	case ev.output == OutputText && ev.result.ExitCode == 0:
		return verdict{text: strings.TrimSpace(escapes.ReplaceAllString(ev.stdout, ""))}
	case ev.rawOK && ev.result.ExitCode == 0 && ev.result.Signal == "" && strings.TrimSpace(ev.stray) != "":
		t.mark(FlagRawOutput, "the output could not be read; this is all of it as it came")
		return verdict{text: strings.TrimSpace(ev.stray)}
	}
	v := j.unexplained(ev)
	if text := t.text.String(); v.brokeOff && strings.TrimSpace(text) != "" {
		t.mark(FlagTruncated, "the stream broke off without its last event; the text may not be whole")
		return verdict{text: text}
	}
	return v
}

// noteOddities turns what does not fit a success into warnings.
func noteOddities(ev *evidence) {
	if ev.result.Cause == nil && ev.result.ExitCode != 0 {
		ev.tally.warn(fmt.Sprintf("the CLI answered, then exited with status %d", ev.result.ExitCode))
	}
}

// failed judges a run whose last word is an error. The first error event may
// say more than the last word does.
func (j *judge) failed(ev *evidence, last *sign) *BackendError {
	candidates := append([]sign{*last}, ev.tally.failures...)
	for i := range candidates {
		if f, ok := j.judgeEvent(&candidates[i], ev.now); ok {
			return ev.found(f)
		}
	}
	if err := j.byTexts(ev); err != nil {
		return err
	}
	said := errorText(&last.Event)
	if n := len(ev.tally.failures); said == "" && n > 0 {
		said = errorText(&ev.tally.failures[n-1].Event)
	}
	return ev.failure(cmp.Or(j.spec.ExitCodes[ev.result.ExitCode], ReasonBadOutput), said)
}

// ended judges a run that we ended. What the CLI was retrying at that time
// says more than the clock does; the clock stays in the error's chain.
func (j *judge) ended(ev *evidence) *BackendError {
	cause := ev.result.Cause
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
func (j *judge) retried(ev *evidence) (finding, bool) {
	for _, e := range []*sign{ev.tally.retry, ev.tally.limit} {
		if e != nil && e.found.reason != "" {
			return e.found, true
		}
	}
	for i := len(ev.tally.failures) - 1; i >= 0; i-- {
		if f, ok := j.judgeEvent(&ev.tally.failures[i], ev.now); ok {
			return f, true
		}
	}
	return finding{}, false
}

// unexplained judges a run that ended by itself without a last word.
func (j *judge) unexplained(ev *evidence) verdict {
	failures := ev.tally.failures
	for i := len(failures) - 1; i >= 0; i-- {
		if f, ok := j.judgeEvent(&failures[i], ev.now); ok {
			return verdict{err: ev.found(f)}
		}
	}
	if err := j.byTexts(ev); err != nil {
		return verdict{err: err}
	}
	if reason, ok := j.spec.ExitCodes[ev.result.ExitCode]; ok {
		return verdict{err: ev.failure(reason, lastLine(ev.stderr))}
	}
	switch {
	case ev.result.Signal != "":
		return verdict{err: ev.failure(ReasonKilled, fmt.Sprintf("ended by a signal from elsewhere: %s", ev.result.Signal))}
	case ev.result.ExitCode != 0:
		return verdict{err: ev.failure(ReasonExit, "")}
	}
	if f, ok := j.retried(ev); ok && ev.tally.text.Len() == 0 {
		return verdict{err: ev.found(f)}
	}
	return verdict{
		err:      ev.failure(ReasonBadOutput, "exited with status 0 and no result"),
		brokeOff: ev.output == OutputStream && ev.tally.known && len(failures) == 0,
	}
}

// byTexts looks through stderr, then through what is no JSON on stdout.
func (j *judge) byTexts(ev *evidence) *BackendError {
	for _, text := range []struct {
		on   Evidence
		text string
	}{{OnStderr, j.lines.telling(ev.stderr, ev.tally.gotOver())}, {OnStdout, ev.words()}} {
		if f, ok := j.judgeText(text.on, text.text, ev.now); ok {
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
	if ev.output == OutputText {
		return ev.stdout
	}
	var b strings.Builder
	for line := range strings.Lines(ev.stray) {
		switch {
		case !jsonStart.MatchString(line):
			b.WriteString(line)
		case ev.output == OutputJSON:
			return b.String() // the rest belongs to the document
		}
	}
	return b.String()
}

func (ev *evidence) found(f finding) *BackendError {
	err := ev.failure(f.reason, f.message)
	err.Hint, err.RetryAfter = f.hint, f.retryAfter
	return err
}

func (ev *evidence) failure(reason Reason, message string) *BackendError {
	return &BackendError{Reason: reason, Message: oneLine(message), ExitCode: ev.result.ExitCode}
}

// complete adds what every failure of a run carries.
func (j *judge) complete(err *BackendError, ev *evidence) {
	err.Backend, err.Stderr, err.Usage, err.Stage = j.spec.Name, ev.stderr, ev.tally.total(), StageStarted
	err.Partial = ev.tally.soFar()
	err.Hint = cmp.Or(err.Hint, j.spec.Hints[err.Reason])
	if err.Reason == ReasonUsageLimit || err.Reason == ReasonRateLimited {
		err.RetryAfter = ev.tally.limitEnd(err.RetryAfter, ev.now)
	}
}
