package judge_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/proc"
)

// Output that no rule can read is an answer only if the CLI exited with code 0 and clichain did not stop it.
func TestRawOutput(t *testing.T) {
	for name, test := range map[string]struct {
		ev   judge.Evidence
		want call.Reason // "": an answer
	}{
		"exit code 0":         {judge.Evidence{RawOK: true, Stray: " fine\n"}, ""},
		"option off":          {judge.Evidence{Stray: "fine"}, call.ReasonBadOutput},
		"no output":           {judge.Evidence{RawOK: true, Stray: " \n"}, call.ReasonBadOutput},
		"exit code 1":         {judge.Evidence{RawOK: true, Stray: "fine", Result: proc.Result{ExitCode: 1}}, call.ReasonExit},
		"a signal":            {judge.Evidence{RawOK: true, Stray: "fine", Result: proc.Result{ExitCode: -1, Signal: "SIGKILL"}}, call.ReasonKilled},
		"a signal, no status": {judge.Evidence{RawOK: true, Stray: "fine", Result: proc.Result{Signal: "SIGKILL"}}, call.ReasonKilled},
		"stopped by clichain": {judge.Evidence{RawOK: true, Stray: "fine", Result: proc.Result{Cause: context.Canceled}}, call.ReasonCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			ev := test.ev
			ev.Output, ev.Tally = clispec.OutputJSON, &judge.Tally{}
			v := judge.New(&clispec.Spec{Name: "lumen"}).Verdict(&ev)
			if test.want == "" {
				require.Nil(t, v.Err)
				require.Equal(t, "fine", v.Text)
				require.Equal(t, []call.Flag{call.FlagRawOutput}, ev.Tally.Flags)
				return
			}
			require.NotNil(t, v.Err)
			require.Equal(t, test.want, v.Err.Reason)
		})
	}
}

// A delay comes from the service if it is longer than the back-off of the CLI, which starts at two seconds and
// doubles with each attempt.
func TestServiceDelay(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	j := judge.New(&clispec.Spec{Name: "lumen"})
	for _, test := range []struct {
		kind  call.EventKind
		try   int
		pause time.Duration
	}{
		{call.EventRetry, 0, 2 * time.Second},
		{call.EventRetry, 1, 2 * time.Second},
		{call.EventRetry, 2, 4 * time.Second},
		{call.EventRetry, 5, 32 * time.Second},
		{call.EventRetry, 11, 2048 * time.Second},
		{call.EventRetry, 12, 2048 * time.Second},
		{call.EventError, 3, 0},
	} {
		for _, delay := range []time.Duration{test.pause, test.pause + time.Second} {
			e := judge.SignOf(call.Event{Kind: test.kind, Status: 429, Try: test.try, Delay: delay})
			f, ok := j.JudgeEvent(&e, now)
			require.True(t, ok)
			if delay == test.pause {
				require.Zero(t, f.RetryAfter, "%s %d after %v", test.kind, test.try, delay)
			} else {
				require.Equal(t, now.Add(delay), f.RetryAfter, "%s %d after %v", test.kind, test.try, delay)
			}
		}
	}
}
