package judge_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/proc"
)

// answered returns the tally of a run that has printed an answer.
func answered() *judge.Tally {
	t := &judge.Tally{}
	e := judge.SignOf(call.Event{Kind: call.EventResult, Text: "fine"})
	e.Terminal = true
	t.Add(&e)
	return t
}

// retried returns the tally of a run that answered after a retry.
func retried() *judge.Tally {
	t := &judge.Tally{}
	e := judge.SignOf(call.Event{Kind: call.EventRetry})
	e.Found.Reason = call.ReasonRateLimited
	t.Add(&e)
	return t
}

// An answer counts only if the CLI had read the whole prompt, or if it ended on its own without reading any of
// it.
func TestVerdictOnUndeliveredInput(t *testing.T) {
	stopped := &judge.Stop{Reason: call.ReasonIdleTimeout, After: time.Second}
	own := errors.New("the caller's own")
	limited := answered()
	limit := judge.SignOf(call.Event{Kind: call.EventLimit, Failed: true})
	limit.Found.Reason = call.ReasonUsageLimit
	limited.Add(&limit)
	for name, test := range map[string]struct {
		ev   judge.Evidence
		want call.Reason
		err  error // an error in the chain of errors
	}{
		"ended on its own":             {judge.Evidence{Tally: answered()}, call.ReasonBadOutput, nil},
		"lingered":                     {judge.Evidence{Tally: answered(), Result: proc.Result{Cause: judge.ErrAnswered}}, call.ReasonBadOutput, nil},
		"stopped for the next backend": {judge.Evidence{Tally: answered(), Result: proc.Result{Cause: judge.ErrMovedOn}}, call.ReasonBadOutput, judge.ErrMovedOn},
		"canceled":                     {judge.Evidence{Tally: answered(), Result: proc.Result{Cause: context.Canceled}}, call.ReasonCanceled, context.Canceled},
		"canceled with a cause":        {judge.Evidence{Tally: answered(), Result: proc.Result{Cause: own}}, call.ReasonCanceled, own},
		"a deadline":                   {judge.Evidence{Tally: answered(), Result: proc.Result{Cause: context.DeadlineExceeded}}, call.ReasonTimeout, call.ErrTimeout},
		"idle":                         {judge.Evidence{Tally: answered(), Result: proc.Result{Cause: stopped}}, call.ReasonIdleTimeout, stopped},
		"idle, and a limit":            {judge.Evidence{Tally: limited, Result: proc.Result{Cause: stopped}}, call.ReasonUsageLimit, stopped},
		"too much output":              {judge.Evidence{Tally: answered(), Result: proc.Result{Cause: proc.ErrOutputLimit}}, call.ReasonOutputLimit, nil},
		"killed":                       {judge.Evidence{Tally: answered(), Result: proc.Result{Cause: proc.ErrKilled}}, call.ReasonCanceled, nil},
		"plain text":                   {judge.Evidence{Output: clispec.OutputText, Stdout: "fine", Tally: &judge.Tally{}}, call.ReasonBadOutput, nil},
		"raw output":                   {judge.Evidence{RawOK: true, Stray: "fine", Tally: &judge.Tally{}}, call.ReasonBadOutput, nil},
		"failure of an earlier retry":  {judge.Evidence{Tally: retried(), Result: proc.Result{ExitCode: 1}}, call.ReasonRateLimited, nil},
		"an end without a reason":      {judge.Evidence{Tally: &judge.Tally{}, Result: proc.Result{ExitCode: 1}}, call.ReasonExit, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ev := test.ev
			j := judge.New(&clispec.Spec{Name: "lumen"})
			ev.Result.Undelivered = true
			v := j.Verdict(&ev)
			require.NotNil(t, v.Err)
			require.Equal(t, test.want, v.Err.Reason, "%v", v.Err)
			require.Empty(t, v.Text)
			if test.err != nil {
				require.ErrorIs(t, v.Err, test.err)
			}
		})
	}
	for name, test := range map[string]struct {
		cause error
		want  call.Reason
	}{"it ended by itself": {nil, ""}, "it lingered": {judge.ErrAnswered, ""}, "canceled": {context.Canceled, call.ReasonCanceled}} {
		t.Run(name+", and had read nothing", func(t *testing.T) {
			ev := judge.Evidence{Tally: answered(), Result: proc.Result{Cause: test.cause, Undelivered: true, Untouched: true}}
			v := judge.New(&clispec.Spec{Name: "lumen"}).Verdict(&ev)
			if test.want != "" {
				require.Equal(t, test.want, v.Err.Reason)
				return
			}
			require.Nil(t, v.Err)
			require.Equal(t, "fine", v.Text)
			require.Equal(t, []string{"the CLI answered without reading standard input, which contained the prompt"}, ev.Tally.Warnings)
		})
	}
	for name, cause := range map[string]error{"it ended by itself": nil, "canceled": context.Canceled, "idle": stopped} {
		t.Run(name+", and had read all", func(t *testing.T) {
			v := judge.New(&clispec.Spec{Name: "lumen"}).Verdict(&judge.Evidence{Tally: answered(), Result: proc.Result{Cause: cause}})
			require.Nil(t, v.Err)
			require.Equal(t, "fine", v.Text)
		})
	}
}
