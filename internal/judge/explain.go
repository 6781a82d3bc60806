package judge

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
)

// echo reports whether a failed terminal event only reports the termination that clichain requested. An event
// that was read before the request is no echo. An event with an error of the model service is no echo either: a
// signal may break a connection, but cannot make a service refuse a request. A run that only retried has
// reported why it failed, so the verdict does not depend on whether it ended at just that time.
func (j *Judge) echo(ev *Evidence) bool {
	last, cause := ev.Tally.Terminal, ev.Result.Cause
	if !last.Late || cause == nil || errors.Is(cause, ErrMovedOn) || errors.Is(cause, ErrAnswered) {
		return false
	}
	f, ok := j.JudgeEvent(last, ev.Now)
	return !timeUp(cause) || !ok || f.Reason == call.ReasonNetwork
}

// timeUp reports whether a time limit of clichain or of the caller ended the run.
func timeUp(cause error) bool {
	_, ours := errors.AsType[*Stop](cause)
	return ours || errors.Is(cause, context.DeadlineExceeded)
}

// failed judges a run whose terminal event is an error. If that event gives no reason, or only that a
// connection broke, earlier events may.
func (j *Judge) failed(ev *Evidence) *call.Error {
	last := ev.Tally.Terminal
	f, known := j.JudgeEvent(last, ev.Now)
	if !known || f.Reason == call.ReasonNetwork {
		if before, ok := j.pending(ev); ok {
			f, known = before, true
		}
	}
	err := ev.found(f)
	if !known {
		err = j.byTexts(ev)
	}
	if err == nil {
		err = ev.failure(cmp.Or(j.spec.ExitCodes[ev.Result.ExitCode], call.ReasonBadOutput), ev.lastMessage())
	}
	if last.Late {
		err.Err = ev.Result.Cause
	}
	return err
}

// lastMessage returns the text of the terminal event or, without one, of the latest error event.
func (ev *Evidence) lastMessage() (message string) {
	if last := ev.Tally.Terminal; last != nil {
		message = errorText(&last.Event)
	}
	if n := len(ev.Tally.Failures); message == "" && n > 0 {
		message = errorText(&ev.Tally.Failures[n-1].Event)
	}
	return message
}

// ended judges a run that clichain stopped. The failure that the CLI was retrying is a better reason than the
// timeout, which stays in the error chain. A run that was stopped in favor of the next backend is judged as if
// it had ended on its own, which it may have done at the same time. Part of an answer never counts as the
// answer.
func (j *Judge) ended(ev *Evidence) *call.Error {
	cause := ev.Result.Cause
	var err *call.Error
	switch f, ok := j.pending(ev); {
	case timeUp(cause) && ok:
		err = ev.found(f)
	case timeUp(cause) && ev.Tally.retry != nil, errors.Is(cause, ErrMovedOn):
		err = j.Unexplained(ev).Err
	default:
		err = ev.failure(ReasonOfCause(cause), "")
	}
	err.Err = cause
	return err
}

// endedByItself reports whether the CLI ended, or lingered after its answer, before clichain had another reason
// to stop the run.
func (ev *Evidence) endedByItself() bool {
	return ev.Result.Cause == nil || errors.Is(ev.Result.Cause, ErrAnswered)
}

// unheard judges a run that answered before the CLI had read its whole input.
func (j *Judge) unheard(ev *Evidence) *call.Error {
	const message = "the CLI answered before it had read the whole prompt"
	if ev.endedByItself() {
		return ev.failure(call.ReasonBadOutput, message)
	}
	err := j.ended(ev)
	err.Message = cmp.Or(err.Message, message)
	return err
}

// said returns the failure that the CLI has reported, in events or in plain text.
func (j *Judge) said(ev *Evidence) *call.Error {
	if f, ok := j.pending(ev); ok {
		return ev.found(f)
	}
	if err := j.byTexts(ev); err != nil {
		return err
	}
	if retry := ev.Tally.retry; retry != nil { // it did not report the cause
		return ev.failure(call.ReasonServerError, retry.Found.Message)
	}
	return nil
}

// pending returns the failure that events have reported and from which the CLI has not recovered. Retries on
// stderr come last, because their order among the events of stdout is unknown, and because the CLI may print
// more to either stream after its last attempt.
func (j *Judge) pending(ev *Evidence) (Finding, bool) {
	retry, limit := ev.Tally.retry, ev.Tally.limit
	if retry != nil && !retry.OnStderr && retry.Found.Reason != "" {
		return retry.Found, true
	}
	if limit != nil {
		return limit.Found, true
	}
	f, ok := j.lastFailure(ev)
	if (!ok || f.Reason == call.ReasonNetwork) && retry != nil && retry.OnStderr && retry.Found.Reason != "" {
		return j.retriedOnStderr(ev, retry), true
	}
	return f, ok
}

// retriedOnStderr returns the failure that the CLI reports after its last retry or, without one, the reason of
// that retry. After a time limit, the text there may be about the signal.
func (j *Judge) retriedOnStderr(ev *Evidence, retry *Sign) Finding {
	if !timeUp(ev.Result.Cause) {
		f, ok := j.JudgeText(clispec.OnStderr, j.Lines.afterRetries(ev.Said), ev.Now)
		if ok && f.Reason != call.ReasonNetwork {
			return f
		}
	}
	return retry.Found
}

// lastFailure returns the latest error event with a known reason. A signal may have broken a connection, so a
// broken connection counts only if no other reason is known.
func (j *Judge) lastFailure(ev *Evidence) (broken Finding, ok bool) {
	for i := range slices.Backward(ev.Tally.Failures) {
		e := &ev.Tally.Failures[i]
		f, known := j.JudgeEvent(e, ev.Now)
		switch {
		case known && f.Reason != call.ReasonNetwork:
			return f, true
		case known && !ok && !(e.Late && timeUp(ev.Result.Cause)):
			broken, ok = f, true
		}
	}
	return broken, ok
}

// Unexplained judges a run without a terminal event.
func (j *Judge) Unexplained(ev *Evidence) Verdict {
	if err := j.said(ev); err != nil {
		return Verdict{Err: err}
	}
	if reason, ok := j.spec.ExitCodes[ev.Result.ExitCode]; ok {
		return Verdict{Err: ev.failure(reason, plaintext.LastLine(ev.Said))}
	}
	switch {
	case ev.Result.Signal != "" && ev.Result.Cause == nil:
		return Verdict{Err: ev.failure(call.ReasonKilled, "killed by a signal that clichain did not send: "+ev.Result.Signal)}
	case ev.Result.ExitCode != 0:
		return Verdict{Err: ev.failure(call.ReasonExit, "")}
	}
	return Verdict{
		Err:      ev.failure(call.ReasonBadOutput, cmp.Or(ev.lastMessage(), "exited with status 0 and no result")),
		BrokeOff: ev.Output == clispec.OutputStream && ev.Tally.known && len(ev.Tally.Failures) == 0,
	}
}

// byTexts searches stderr, and then the text on stdout that is not JSON.
func (j *Judge) byTexts(ev *Evidence) *call.Error {
	recovered := ev.Tally.recovered && ev.Tally.retry == nil
	f, ok := j.JudgeText(clispec.OnStderr, j.Lines.relevant(ev.Said, recovered), ev.Now)
	if !ok {
		// Redact before a message is cut out, because the cut could split a secret.
		stdout := ev.Secrets.CleanDisguised(ev.plainStdout())
		if ev.Output == clispec.OutputText && j.spec.Text.AnswerOnly {
			f, ok = j.onStdout.Find(call.EventError, clispec.OnStdout, stdout, ev.Now)
		} else {
			f, ok = j.JudgeText(clispec.OnStdout, stdout, ev.Now)
		}
	}
	if !ok {
		return nil
	}
	return ev.found(f)
}

// plainStdout returns the part of stdout that may explain a failure.
func (ev *Evidence) plainStdout() string {
	if ev.Output == clispec.OutputText && !ev.Events {
		return ev.Stdout
	}
	return ev.Plain
}
