package judge

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/proc"
)

// Texts with the reasons unauthenticated, billing and network, and one without a reason.
const (
	denied  = "not logged in"
	unpaid  = "out of credits"
	broken  = "connection reset"
	unclear = "oops"
)

var idle = &Stop{Reason: call.ReasonIdleTimeout}

func failure(text string) Sign { return SignOf(call.Event{Kind: call.EventError, Message: text}) }

func failedResult(text string) Sign {
	return *terminal(call.Event{Kind: call.EventResult, Failed: true, Text: text})
}

func late(s Sign) Sign {
	s.Late = true
	return s
}

// retry returns a retry of the CLI; an empty reason is unknown.
func retry(reason call.Reason) Sign {
	s := SignOf(call.Event{Kind: call.EventRetry})
	s.Found = Finding{Reason: reason, Message: "retrying"}
	return s
}

func retryOnStderr(reason call.Reason) Sign {
	s := retry(reason)
	s.OnStderr = true
	return s
}

func reachedLimit() Sign {
	s := SignOf(call.Event{Kind: call.EventLimit, Failed: true})
	s.Found.Reason = call.ReasonUsageLimit
	return s
}

// explained is a failed run: its events, the cause with which clichain stopped it, its exit code and its texts.
type explained struct {
	events  []Sign
	cause   error
	exit    int
	said    string // on stderr
	want    call.Reason
	message string
	err     error // the wrapped error
}

// check judges the run. Exit code 7 is bad_model.
func (e explained) check(t *testing.T) {
	t.Helper()
	tally := &Tally{}
	for i := range e.events {
		tally.Add(&e.events[i])
	}
	j := New(&clispec.Spec{
		ExitCodes: map[int]call.Reason{7: call.ReasonBadModel},
		Lines:     []clispec.LineRule{{Pattern: "^retry", Kind: call.EventRetry}},
	})
	v := j.Verdict(&Evidence{
		Output: clispec.OutputJSON, Tally: tally, Said: e.said, Now: noon, Result: proc.Result{Cause: e.cause, ExitCode: e.exit},
	})
	require.NotNil(t, v.Err)
	require.Equal(t, e.want, v.Err.Reason)
	if e.message != "" {
		require.Equal(t, e.message, v.Err.Message)
	}
	require.Equal(t, e.err, v.Err.Err)
	require.Equal(t, e.exit, v.Err.ExitCode)
}

// A failed result has precedence. Earlier events, texts and the exit code explain one that gives no reason, and earlier
// events one that only reports a broken connection.
func TestFailedResult(t *testing.T) {
	for name, test := range map[string]explained{
		"its own reason":               {events: []Sign{failure(unpaid), failedResult(denied)}, want: call.ReasonUnauthenticated, message: denied},
		"earlier error":                {events: []Sign{failure(denied), failedResult(unclear)}, want: call.ReasonUnauthenticated, message: denied},
		"earlier error, broken":        {events: []Sign{failure(denied), failedResult(broken)}, want: call.ReasonUnauthenticated, message: denied},
		"broken connection":            {events: []Sign{failedResult(broken)}, want: call.ReasonNetwork, message: broken},
		"broken, then unclear":         {events: []Sign{failure(broken), failedResult(unclear)}, want: call.ReasonNetwork, message: broken},
		"broken, and stderr":           {events: []Sign{failedResult(broken)}, said: denied, want: call.ReasonNetwork},
		"stderr":                       {events: []Sign{failedResult(unclear)}, exit: 7, said: denied, want: call.ReasonUnauthenticated},
		"exit code":                    {events: []Sign{failedResult(unclear)}, exit: 7, want: call.ReasonBadModel, message: unclear},
		"nothing":                      {events: []Sign{failedResult(unclear)}, exit: 3, want: call.ReasonBadOutput, message: unclear},
		"nothing, not even a text":     {events: []Sign{failedResult("")}, want: call.ReasonBadOutput},
		"text of an earlier error":     {events: []Sign{failure(unclear), failedResult("")}, want: call.ReasonBadOutput, message: unclear},
		"text of the latest error":     {events: []Sign{failure("1"), failure("2"), failedResult("")}, want: call.ReasonBadOutput, message: "2"},
		"before clichain stopped it":   {events: []Sign{failedResult(denied)}, cause: context.Canceled, want: call.ReasonUnauthenticated},
		"late, without a stop":         {events: []Sign{late(failedResult(denied))}, want: call.ReasonUnauthenticated},
		"late, next backend":           {events: []Sign{late(failedResult(denied))}, cause: ErrMovedOn, want: call.ReasonUnauthenticated, err: ErrMovedOn},
		"late, lingered":               {events: []Sign{late(failedResult(denied))}, cause: ErrAnswered, want: call.ReasonUnauthenticated, err: ErrAnswered},
		"late, idle":                   {events: []Sign{late(failedResult(denied))}, cause: idle, want: call.ReasonUnauthenticated, err: idle},
		"late, deadline":               {events: []Sign{late(failedResult(denied))}, cause: context.DeadlineExceeded, want: call.ReasonUnauthenticated, err: context.DeadlineExceeded},
		"echo of a cancellation":       {events: []Sign{late(failedResult(denied))}, cause: context.Canceled, want: call.ReasonCanceled, err: context.Canceled},
		"echo of an idle stop":         {events: []Sign{late(failedResult(unclear))}, cause: idle, want: call.ReasonIdleTimeout, err: idle},
		"echo as a broken connection":  {events: []Sign{late(failedResult(broken))}, cause: idle, want: call.ReasonIdleTimeout, err: idle},
		"limit before a failed result": {events: []Sign{reachedLimit(), failedResult(unclear)}, want: call.ReasonUsageLimit},
	} {
		t.Run(name, test.check)
	}
}

// The failure that the CLI reported explains a time limit, but not a cancellation.
func TestStoppedRun(t *testing.T) {
	moved := ErrMovedOn
	for name, test := range map[string]explained{
		"canceled":                      {events: []Sign{failure(denied)}, cause: context.Canceled, want: call.ReasonCanceled, err: context.Canceled},
		"idle":                          {cause: idle, exit: 7, said: denied, want: call.ReasonIdleTimeout, err: idle},
		"idle after an error":           {events: []Sign{failure(denied)}, cause: idle, want: call.ReasonUnauthenticated, message: denied, err: idle},
		"deadline after an error":       {events: []Sign{failure(denied)}, cause: context.DeadlineExceeded, want: call.ReasonUnauthenticated, err: context.DeadlineExceeded},
		"idle in a retry":               {events: []Sign{retry(call.ReasonOverloaded)}, cause: idle, want: call.ReasonOverloaded, err: idle},
		"idle in a retry of no reason":  {events: []Sign{retry("")}, cause: idle, want: call.ReasonServerError, message: "retrying", err: idle},
		"idle in a retry, and stderr":   {events: []Sign{retry("")}, cause: idle, said: denied, want: call.ReasonUnauthenticated, err: idle},
		"idle after a late broken one":  {events: []Sign{late(failure(broken))}, cause: idle, want: call.ReasonIdleTimeout, err: idle},
		"idle after a broken one":       {events: []Sign{failure(broken)}, cause: idle, want: call.ReasonNetwork, err: idle},
		"next backend":                  {cause: moved, exit: 1, want: call.ReasonExit, err: moved},
		"next backend, broken late":     {events: []Sign{late(failure(broken))}, cause: moved, want: call.ReasonNetwork, err: moved},
		"next backend, in a retry":      {events: []Sign{retry(call.ReasonRateLimited)}, cause: moved, want: call.ReasonRateLimited, err: moved},
		"next backend, and stderr":      {cause: moved, said: denied, want: call.ReasonUnauthenticated, err: moved},
		"too much output after a retry": {events: []Sign{retry("")}, cause: proc.ErrOutputLimit, want: call.ReasonOutputLimit, err: proc.ErrOutputLimit},
	} {
		t.Run(name, test.check)
	}
}

// The latest failure from which the CLI has not recovered is the reason. A broken connection is the last choice.
func TestPendingFailure(t *testing.T) {
	const limited, overloaded = call.ReasonRateLimited, call.ReasonOverloaded
	progress := SignOf(call.Event{Kind: call.EventToolUse})
	for name, test := range map[string]explained{
		"retry before limit":             {events: []Sign{reachedLimit(), retry(limited)}, want: limited},
		"limit before an unclear retry":  {events: []Sign{reachedLimit(), retry("")}, want: call.ReasonUsageLimit},
		"limit before stderr":            {events: []Sign{reachedLimit(), retryOnStderr(limited)}, want: call.ReasonUsageLimit},
		"limit before an error":          {events: []Sign{reachedLimit(), failure(denied)}, want: call.ReasonUsageLimit},
		"retry before an error":          {events: []Sign{failure(denied), retry(limited)}, want: limited},
		"error before an unclear retry":  {events: []Sign{failure(denied), retry("")}, want: call.ReasonUnauthenticated},
		"retry that succeeded":           {events: []Sign{retry(limited), progress}, exit: 1, want: call.ReasonExit},
		"limit that ended":               {events: []Sign{reachedLimit(), progress}, exit: 1, want: call.ReasonExit},
		"error stays after progress":     {events: []Sign{failure(denied), progress}, exit: 1, want: call.ReasonUnauthenticated},
		"latest error":                   {events: []Sign{failure(denied), failure(unpaid)}, want: call.ReasonBilling},
		"error before an unclear one":    {events: []Sign{failure(denied), failure(unclear)}, want: call.ReasonUnauthenticated},
		"error before a broken one":      {events: []Sign{failure(denied), failure(broken)}, want: call.ReasonUnauthenticated},
		"latest of two broken ones":      {events: []Sign{failure(broken + " 1"), failure(broken + " 2")}, want: call.ReasonNetwork, message: broken + " 2"},
		"retry on stderr":                {events: []Sign{retryOnStderr(limited)}, want: limited},
		"retry on stderr before broken":  {events: []Sign{failure(broken), retryOnStderr(limited)}, want: limited},
		"error before retry on stderr":   {events: []Sign{failure(denied), retryOnStderr(limited)}, want: call.ReasonUnauthenticated},
		"broken before an unclear retry": {events: []Sign{failure(broken), retryOnStderr("")}, want: call.ReasonNetwork},
		"text after the retry":           {events: []Sign{retryOnStderr(overloaded)}, said: unpaid + "\nretry\n" + denied, want: call.ReasonUnauthenticated},
		"text before the retry":          {events: []Sign{retryOnStderr(overloaded)}, said: denied + "\nretry\n", want: overloaded},
		"broken text after the retry":    {events: []Sign{retryOnStderr(overloaded)}, said: "retry\n" + broken, want: overloaded},
		"text after a stop":              {events: []Sign{retryOnStderr(overloaded)}, said: "retry\n" + denied, cause: idle, want: overloaded, err: idle},
	} {
		t.Run(name, test.check)
	}
}

// Without a reported failure, texts explain the end of a run, then its exit code and its signal.
func TestUnexplainedEnd(t *testing.T) {
	progress := SignOf(call.Event{Kind: call.EventToolUse})
	for name, test := range map[string]explained{
		"stderr":                        {exit: 7, said: denied, want: call.ReasonUnauthenticated},
		"unclear retry":                 {events: []Sign{retry("")}, exit: 7, want: call.ReasonServerError, message: "retrying"},
		"known exit code":               {exit: 7, said: "1\nlast line\n", want: call.ReasonBadModel, message: "last line"},
		"other exit code":               {exit: 3, said: "last line", want: call.ReasonExit},
		"no failure":                    {want: call.ReasonBadOutput, message: "exited with status 0 and no result"},
		"unclear error":                 {events: []Sign{failure(unclear)}, want: call.ReasonBadOutput, message: unclear},
		"stderr of an attempt":          {events: []Sign{retry(""), progress}, said: "retry\n " + denied, exit: 3, want: call.ReasonExit},
		"stderr of an attempt, pending": {events: []Sign{retry(""), progress, retry("")}, said: "retry\n " + denied, exit: 3, want: call.ReasonUnauthenticated},
		"stderr without a retry":        {events: []Sign{progress}, said: "retry\n " + denied, exit: 3, want: call.ReasonUnauthenticated},
	} {
		t.Run(name, test.check)
	}
	signaled := proc.Result{ExitCode: -1, Signal: "SIGKILL"}
	v := New(&clispec.Spec{}).Unexplained(&Evidence{Tally: &Tally{}, Result: signaled})
	require.Equal(t, call.ReasonKilled, v.Err.Reason)
	signaled.Cause = ErrMovedOn
	v = New(&clispec.Spec{}).Unexplained(&Evidence{Tally: &Tally{}, Result: signaled})
	require.Equal(t, call.ReasonExit, v.Err.Reason, "the signal is from clichain")
}

// Only a stream with events and without an error can have broken off.
func TestBrokenOffStream(t *testing.T) {
	for name, test := range map[string]struct {
		output clispec.OutputMode
		events []call.Event
		exit   int
		want   bool
	}{
		"stream":            {clispec.OutputStream, []call.Event{{Kind: call.EventSession}}, 0, true},
		"other output":      {clispec.OutputJSON, []call.Event{{Kind: call.EventSession}}, 0, false},
		"no known event":    {clispec.OutputStream, []call.Event{{Kind: call.EventRaw}}, 0, false},
		"no event":          {clispec.OutputStream, nil, 0, false},
		"an error":          {clispec.OutputStream, []call.Event{{Kind: call.EventError, Message: unclear}}, 0, false},
		"another exit code": {clispec.OutputStream, []call.Event{{Kind: call.EventSession}}, 1, false},
	} {
		ev := &Evidence{Output: test.output, Tally: add(&Tally{}, test.events...), Result: proc.Result{ExitCode: test.exit}}
		require.Equal(t, test.want, New(&clispec.Spec{}).Unexplained(ev).BrokeOff, name)
	}
}
