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

// verdictOf decides what a run was. In order of trust: the terminal event, why
// we ended the run, error events, stderr, stdout, the exit status. Exit 0
// alone proves nothing where the CLI has a terminal event.
func (s *compiledSpec) verdictOf(ev *evidence) (string, *BackendError) {
	text, err := s.judge(ev)
	if ev.strip {
		text = stripFence(text)
	}
	if err == nil && strings.TrimSpace(text) == "" {
		err = ev.failure(ReasonEmpty, "the run succeeded with an empty answer")
	}
	if err != nil {
		s.complete(err, ev)
		return "", err
	}
	return text, nil
}

func (s *compiledSpec) judge(ev *evidence) (string, *BackendError) {
	t := ev.tally
	switch {
	case t.fatal != nil:
		return "", ev.found(*t.fatal)
	case t.succeeded():
		s.noteOddities(ev)
		return t.answerText(), nil
	case t.terminal != nil && t.terminal.partial && strings.TrimSpace(t.soFar()) != "":
		t.mark(FlagTruncated, "the answer was cut short: "+t.terminal.errorText())
		return t.soFar(), nil
	case t.terminal != nil:
		return "", s.failed(ev, t.terminal)
	case ev.result.Cause != nil:
		return "", s.ended(ev)
	case ev.output == OutputText && ev.result.ExitCode == 0:
		return strings.TrimSpace(escapes.ReplaceAllString(ev.stdout, "")), nil
	case ev.rawOK && ev.result.ExitCode == 0 && ev.result.Signal == "" && strings.TrimSpace(ev.stray) != "":
		t.mark(FlagRawOutput, "the output could not be read; this is all of it as it came")
		return strings.TrimSpace(ev.stray), nil
	}
	err := s.unexplained(ev)
	if text := t.text.String(); err.brokeOff && strings.TrimSpace(text) != "" {
		t.mark(FlagTruncated, "the stream broke off without its last event; the text may not be whole")
		return text, nil
	}
	return "", err
}

// noteOddities turns what does not fit a success into warnings.
func (s *compiledSpec) noteOddities(ev *evidence) {
	if ev.result.Cause == nil && ev.result.ExitCode != 0 {
		ev.tally.warn(fmt.Sprintf("the CLI answered, then exited with status %d", ev.result.ExitCode))
	}
}

// failed judges a run whose last word is an error. The first error event may
// say more than the last word does.
func (s *compiledSpec) failed(ev *evidence, last *Event) *BackendError {
	candidates := append([]Event{*last}, ev.tally.failures...)
	for i := range candidates {
		if f, ok := s.judgeEvent(&candidates[i], ev.now); ok {
			return ev.found(f)
		}
	}
	if err := s.byTexts(ev); err != nil {
		return err
	}
	said := last.errorText()
	if n := len(ev.tally.failures); said == "" && n > 0 {
		said = ev.tally.failures[n-1].errorText()
	}
	return ev.failure(cmp.Or(s.ExitCodes[ev.result.ExitCode], ReasonBadOutput), said)
}

// ended judges a run that we ended. What the CLI was retrying at that time
// says more than the clock does; the clock stays in the error's chain.
func (s *compiledSpec) ended(ev *evidence) *BackendError {
	cause := ev.result.Cause
	err := ev.failure(reasonOfCause(cause), "")
	if _, ours := errors.AsType[*stopError](cause); ours || errors.Is(cause, errMovedOn) {
		if f, ok := s.retried(ev); ok {
			err = ev.found(f)
		}
	}
	err.Err = cause
	return err
}

// reasonOfCause classifies why a run was ended from outside.
func reasonOfCause(cause error) Reason {
	if stop, ok := errors.AsType[*stopError](cause); ok {
		return stop.reason
	}
	if _, ok := errors.AsType[*proc.PanicError](cause); ok {
		return ReasonBadOutput
	}
	switch {
	case errors.Is(cause, proc.ErrOutputLimit):
		return ReasonOutputLimit
	case errors.Is(cause, proc.ErrReapLost):
		return ReasonExit
	case errors.Is(cause, errMovedOn):
		return ReasonServerError // it retried and did not say why
	}
	return ReasonCanceled
}

// retried says what the CLI was silently trying again.
func (s *compiledSpec) retried(ev *evidence) (finding, bool) {
	for _, e := range []*Event{ev.tally.retry, ev.tally.limit} {
		if e != nil && e.found.reason != "" {
			return e.found, true
		}
	}
	for i := len(ev.tally.failures) - 1; i >= 0; i-- {
		if f, ok := s.judgeEvent(&ev.tally.failures[i], ev.now); ok {
			return f, true
		}
	}
	return finding{}, false
}

// unexplained judges a run that ended by itself without a last word.
func (s *compiledSpec) unexplained(ev *evidence) *BackendError {
	failures := ev.tally.failures
	for i := len(failures) - 1; i >= 0; i-- {
		if f, ok := s.judgeEvent(&failures[i], ev.now); ok {
			return ev.found(f)
		}
	}
	if err := s.byTexts(ev); err != nil {
		return err
	}
	if reason, ok := s.ExitCodes[ev.result.ExitCode]; ok {
		return ev.failure(reason, lastLine(ev.stderr))
	}
	switch {
	case ev.result.Signal != "":
		return ev.failure(ReasonKilled, fmt.Sprintf("ended by a signal from elsewhere: %s", ev.result.Signal))
	case ev.result.ExitCode != 0:
		return ev.failure(ReasonExit, "")
	}
	if f, ok := s.retried(ev); ok && ev.tally.text.Len() == 0 {
		return ev.found(f)
	}
	err := ev.failure(ReasonBadOutput, "exited with status 0 and no result")
	err.brokeOff = ev.output == OutputStream && ev.tally.known && len(failures) == 0
	return err
}

// byTexts looks through stderr, then through what is no JSON on stdout.
func (s *compiledSpec) byTexts(ev *evidence) *BackendError {
	for _, text := range []struct {
		on   Evidence
		text string
	}{{OnStderr, s.lines.telling(ev.stderr, ev.tally.gotOver())}, {OnStdout, ev.words()}} {
		if f, ok := s.judgeText(text.on, text.text, ev.now); ok {
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
func (s *compiledSpec) complete(err *BackendError, ev *evidence) {
	err.Backend, err.Stderr, err.Usage, err.started = s.Name, ev.stderr, ev.tally.total(), true
	err.Partial = ev.tally.soFar()
	err.Hint = cmp.Or(err.Hint, s.Hints[err.Reason])
	if err.Reason == ReasonUsageLimit || err.Reason == ReasonRateLimited {
		err.RetryAfter = ev.tally.limitEnd(err.RetryAfter, ev.now)
	}
}

// stopError is why clichain ended a run: the cause of the context that the
// process runs under.
type stopError struct {
	reason Reason
	after  time.Duration
}

func (e *stopError) Error() string {
	return fmt.Sprintf("%s after %v", e.reason, e.after.Round(time.Millisecond))
}

// Is lets errors.Is find the clock behind a more telling Reason.
func (e *stopError) Is(target error) bool { return target == sentinel(e.reason) }
