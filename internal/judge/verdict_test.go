package judge

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/proc"
)

// judged returns the verdict of a spec without rules on a run.
func judged(ev Evidence, events ...Sign) (Verdict, *Tally) {
	ev.Tally = &Tally{}
	for i := range events {
		ev.Tally.Add(&events[i])
	}
	return New(&clispec.Spec{Name: "lumen"}).Verdict(&ev), ev.Tally
}

func answer(text string) Sign { return *terminal(call.Event{Kind: call.EventResult, Text: text}) }

// A result is the answer, whatever the exit code is. Only a CLI that ended by itself gets a warning for it.
func TestAnsweredRun(t *testing.T) {
	for name, test := range map[string]struct {
		result proc.Result
		warns  bool
	}{
		"exit code 0": {proc.Result{}, false},
		"exit code 3": {proc.Result{ExitCode: 3}, true},
		"lingered":    {proc.Result{ExitCode: -1, Cause: ErrAnswered}, false},
	} {
		v, tally := judged(Evidence{Result: test.result}, answer("fine"))
		require.Nil(t, v.Err, name)
		require.Equal(t, "fine", v.Text, name)
		require.Equal(t, test.warns, len(tally.Warnings) > 0, name)
	}
}

// A fatal line has precedence over an answer.
func TestFatalLine(t *testing.T) {
	tally := &Tally{Fatal: &Finding{Reason: call.ReasonUntrustedDir, Message: "stop"}}
	done := answer("fine")
	tally.Add(&done)
	v := New(&clispec.Spec{}).Verdict(&Evidence{Tally: tally, Result: proc.Result{Cause: ErrFatal}})
	require.Equal(t, call.ReasonUntrustedDir, v.Err.Reason)
	require.Empty(t, v.Text)
}

// A failed result that contains a part of the answer is a truncated answer.
func TestPartialAnswer(t *testing.T) {
	partial := failedResult("too many turns")
	partial.Partial = true
	text := SignOf(call.Event{Kind: call.EventText, Text: "half"})

	v, tally := judged(Evidence{}, text, partial)
	require.Nil(t, v.Err)
	require.Equal(t, "half", v.Text)
	require.Equal(t, []call.Flag{call.FlagTruncated}, tally.Flags)

	partial.Text = " "
	v, _ = judged(Evidence{}, partial)
	require.Equal(t, call.ReasonBadOutput, v.Err.Reason, "no text")

	v, _ = judged(Evidence{}, text, failedResult("too many turns"))
	require.Equal(t, call.ReasonBadOutput, v.Err.Reason, "a result that is not partial")
	require.Equal(t, "half", v.Err.Partial)
}

// The text mode has no events: exit code 0 means that stdout is the answer.
func TestTextMode(t *testing.T) {
	for name, test := range map[string]struct {
		ev      Evidence
		text    string
		reason  call.Reason
		message string
	}{
		"answer":                {Evidence{Stdout: " \x1b[1mfine\x1b[0m\n"}, "fine", "", ""},
		"exit code 1":           {Evidence{Stdout: "fine", Result: proc.Result{ExitCode: 1}}, "", call.ReasonExit, ""},
		"stopped":               {Evidence{Stdout: "fine", Result: proc.Result{Cause: idle}}, "", call.ReasonIdleTimeout, ""},
		"nothing":               {Evidence{Stdout: "\n"}, "", call.ReasonEmpty, "the run succeeded with an empty answer"},
		"events":                {Evidence{Events: true, Stdout: "{}"}, "", call.ReasonBadOutput, "text mode printed events instead of an answer"},
		"events, exit code 1":   {Evidence{Events: true, Stdout: denied, Plain: unpaid, Result: proc.Result{ExitCode: 1}}, "", call.ReasonBilling, ""},
		"error on stdout":       {Evidence{Stdout: denied, Plain: unpaid, Result: proc.Result{ExitCode: 1}}, "", call.ReasonUnauthenticated, ""},
		"stderr before stdout":  {Evidence{Stdout: denied, Said: unpaid, Result: proc.Result{ExitCode: 1}}, "", call.ReasonBilling, ""},
		"answer, and an error":  {Evidence{Stdout: denied, Said: unpaid}, denied, "", ""},
		"events, without stops": {Evidence{Events: true, Result: proc.Result{Cause: idle}}, "", call.ReasonIdleTimeout, ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.ev.Output = clispec.OutputText
			v, _ := judged(test.ev)
			require.Equal(t, test.text, v.Text)
			if test.reason == "" {
				require.Nil(t, v.Err)
				return
			}
			require.Equal(t, test.reason, v.Err.Reason)
			require.Contains(t, v.Err.Message, test.message)
		})
	}
}

// The stdout of a failed run explains it. If it has only answers, just the rules that name stdout apply to it.
func TestStdoutOfFailedRun(t *testing.T) {
	rule := clispec.LineRule{Pattern: "quota gone", Reason: call.ReasonBilling, On: []clispec.Evidence{clispec.OnStdout}}
	for name, test := range map[string]struct {
		output     clispec.OutputMode
		answerOnly bool
		stdout     string
		want       call.Reason
	}{
		"text":                         {clispec.OutputText, false, denied, call.ReasonUnauthenticated},
		"text, only answers":           {clispec.OutputText, true, denied, call.ReasonExit},
		"text, only answers, and rule": {clispec.OutputText, true, "quota gone", call.ReasonBilling},
		"JSON":                         {clispec.OutputJSON, false, denied, call.ReasonUnauthenticated},
		"JSON, only answers in text":   {clispec.OutputJSON, true, denied, call.ReasonUnauthenticated},
		"JSON, and rule":               {clispec.OutputJSON, false, "quota gone", call.ReasonBilling},
	} {
		t.Run(name, func(t *testing.T) {
			j := New(&clispec.Spec{Text: clispec.TextRule{AnswerOnly: test.answerOnly}, Lines: []clispec.LineRule{rule}})
			ev := &Evidence{Output: test.output, Tally: &Tally{}, Result: proc.Result{ExitCode: 1}}
			if test.output == clispec.OutputText {
				ev.Stdout = test.stdout
			} else {
				ev.Plain = test.stdout
			}
			require.Equal(t, test.want, j.Verdict(ev).Err.Reason)
		})
	}
}

// A stream that broke off after some text is a truncated answer.
func TestStreamThatBrokeOff(t *testing.T) {
	half := SignOf(call.Event{Kind: call.EventDelta, Text: "half"})
	v, tally := judged(Evidence{Output: clispec.OutputStream}, half)
	require.Nil(t, v.Err)
	require.Equal(t, "half", v.Text)
	require.Equal(t, []call.Flag{call.FlagTruncated}, tally.Flags)
	blank := SignOf(call.Event{Kind: call.EventDelta, Text: " "})
	v, _ = judged(Evidence{Output: clispec.OutputStream}, blank)
	require.Equal(t, call.ReasonBadOutput, v.Err.Reason)
	require.True(t, v.BrokeOff)
	v, _ = judged(Evidence{Output: clispec.OutputStream, Result: proc.Result{ExitCode: 1}}, half)
	require.Equal(t, call.ReasonExit, v.Err.Reason)
	require.Equal(t, "half", v.Err.Partial)
}

// The caller can have a code fence removed, and secrets of the environment redacted.
func TestTextOfAnswer(t *testing.T) {
	secrets := plaintext.NewRedactor([]string{"LUMEN_API_KEY=correct-horse-battery"})
	const secret, fence = "it is correct-horse-battery", "```json\n{}\n```"
	for name, test := range map[string]struct {
		ev   Evidence
		text string
		want string
		flag bool
	}{
		"fence":        {Evidence{}, fence, fence, false},
		"strip":        {Evidence{Strip: true}, fence, "{}", false},
		"secret":       {Evidence{}, secret, secret, false},
		"redact":       {Evidence{Redact: true}, secret, "it is [redacted]", true},
		"no secret":    {Evidence{Redact: true}, "fine", "fine", false},
		"surroundings": {Evidence{}, " fine\n", " fine\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			test.ev.Secrets = secrets
			v, tally := judged(test.ev, answer(test.text))
			require.Nil(t, v.Err)
			require.Equal(t, test.want, v.Text)
			require.Equal(t, test.flag, len(tally.Flags) > 0)
			require.Equal(t, test.flag, len(tally.Warnings) > 0)
		})
	}
}

// Each error has the fields of its run. The end of a limit is only in the error of a limit.
func TestCompleteError(t *testing.T) {
	limit := call.Event{Kind: call.EventLimit, Failed: true, RetryAfter: noon.Add(time.Hour)}
	j := New(&clispec.Spec{Name: "lumen", Hints: map[call.Reason]string{call.ReasonExit: "look"}})
	complete := func(reason call.Reason, text string) *call.Error {
		err := &call.Error{Reason: reason}
		tally := add(&Tally{}, call.Event{Kind: call.EventText, Text: text}, call.Event{Kind: call.EventUsage, Usage: call.Usage{Turns: 2}}, limit)
		tally.Warn("careful")
		j.Complete(err, &Evidence{Tally: tally, Stderr: " oops\n", Now: noon})
		return err
	}
	require.Equal(t, &call.Error{
		Backend: "lumen", Reason: call.ReasonExit, Stage: call.StageStarted, Stderr: "oops", Partial: "half", Hint: "look",
		Warnings: []string{"careful"}, Usage: call.Usage{Turns: 2},
	}, complete(call.ReasonExit, "half"))
	for reason, want := range map[call.Reason]bool{
		call.ReasonUsageLimit: true, call.ReasonRateLimited: true, call.ReasonOverloaded: false,
	} {
		require.Equal(t, want, complete(reason, "").RetryAfter.Equal(limit.RetryAfter), reason)
	}
	fits := strings.Repeat("x", maxPartial-1) + "\xff"
	require.Equal(t, fits, complete(call.ReasonExit, fits).Partial)
	require.Equal(t, strings.Repeat("x", maxPartial-1), complete(call.ReasonExit, strings.Repeat("x", maxPartial-1)+"é").Partial)
}

// The hint of a spec is for errors that have neither a hint nor advice.
func TestAddHint(t *testing.T) {
	advice := []call.Advice{{Action: call.ActionPass}}
	for name, test := range map[string]struct {
		err  call.Error
		want string
	}{
		"neither": {call.Error{}, "new"},
		"hint":    {call.Error{Hint: "old"}, "old"},
		"advice":  {call.Error{Advice: advice}, ""},
		"both":    {call.Error{Hint: "old", Advice: advice}, "old"},
	} {
		AddHint(&test.err, "new")
		require.Equal(t, test.want, test.err.Hint, name)
	}
}
