package clichain_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

func failedAttempt(backend string, reason clichain.Reason, skipped bool) clichain.Attempt {
	return clichain.Attempt{Backend: backend, Reason: reason, Skipped: skipped, Err: &clichain.BackendError{Backend: backend, Reason: reason, ExitCode: -1}}
}

// strange is an error type of a foreign backend.
type strange struct{ code int }

func (strange) Error() string { return "strange" }

func nestedChainError() *clichain.ChainError {
	stranger := failedAttempt("other", clichain.ReasonExit, false)
	stranger.Err = strange{7}
	missing := failedAttempt("inner", clichain.ReasonNotInstalled, true)
	missing.Err.(*clichain.BackendError).Err = &fs.PathError{Op: "stat", Path: "/x", Err: fs.ErrNotExist}
	inner := &clichain.ChainError{Attempts: []clichain.Attempt{missing, failedAttempt("inner2", clichain.ReasonBilling, false)}}
	return &clichain.ChainError{Attempts: []clichain.Attempt{
		failedAttempt("claude", clichain.ReasonSuppressed, true),
		failedAttempt("gemini", clichain.ReasonTimeout, false),
		stranger,
		{Backend: "chain", Reason: clichain.ReasonBilling, Err: inner},
	}}
}

func TestChainErrorFindsEveryAttempt(t *testing.T) {
	err := error(nestedChainError())
	for _, target := range []error{
		clichain.ErrSuppressed, clichain.ErrTimeout, clichain.ErrNotInstalled, clichain.ErrBilling, fs.ErrNotExist, strange{7},
	} {
		require.ErrorIs(t, err, target)
	}
	for _, target := range []error{clichain.ErrCanceled, clichain.ErrExit, context.Canceled, strange{8}} {
		require.NotErrorIs(t, err, target)
	}
	found, ok := errors.AsType[strange](err)
	require.True(t, ok)
	require.Equal(t, 7, found.code)
	first, ok := errors.AsType[*clichain.BackendError](err)
	require.True(t, ok)
	require.Equal(t, "claude", first.Backend, "the first attempt is found first")
	_, ok = errors.AsType[*fs.PathError](err)
	require.True(t, ok)
}

func TestChainErrorIsAMultierror(t *testing.T) {
	err := error(nestedChainError())
	all, ok := errors.AsType[*multierror.Error](err)
	require.True(t, ok)
	require.Len(t, all.Errors, 4, "a nested chain is one entry")
	var inner *clichain.ChainError
	require.ErrorAs(t, all.Errors[3], &inner)
	require.Len(t, inner.Attempts, 2)
	all, ok = errors.AsType[*multierror.Error](error(&clichain.ChainError{}))
	require.True(t, ok, "even when nothing was tried")
	require.Empty(t, all.Errors)
}

func TestChainErrorCause(t *testing.T) {
	cause := &clichain.BackendError{Reason: clichain.ReasonCanceled, ExitCode: -1, Err: context.DeadlineExceeded}
	err := &clichain.ChainError{Attempts: []clichain.Attempt{failedAttempt("gemini", clichain.ReasonTimeout, false)}, Cause: cause}
	require.ErrorIs(t, err, clichain.ErrCanceled)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, clichain.ErrTimeout)
	require.Equal(t, clichain.ReasonCanceled, err.Reason())
	require.Equal(t, "clichain: canceled: context deadline exceeded\n  gemini  timeout", err.Error())
}

func TestChainErrorReason(t *testing.T) {
	skip := func(r clichain.Reason) clichain.Attempt { return failedAttempt("s", r, true) }
	try := func(r clichain.Reason) clichain.Attempt { return failedAttempt("t", r, false) }
	for _, test := range []struct {
		name     string
		attempts []clichain.Attempt
		want     clichain.Reason
		tried    bool
		text     string
	}{
		{"nothing to try", nil, "", false, "clichain: no backends to try"},
		{"only skips: the first", []clichain.Attempt{skip(clichain.ReasonSuppressed), skip(clichain.ReasonNotInstalled)}, clichain.ReasonSuppressed, false,
			"clichain: no backend answered (0 tried, 2 skipped)\n  s  suppressed\n  s  not_installed"},
		{"the last that was tried", []clichain.Attempt{try(clichain.ReasonExit), try(clichain.ReasonEmpty), skip(clichain.ReasonNotInstalled)}, clichain.ReasonEmpty, true,
			"clichain: no backend answered (2 tried, 1 skipped)\n  t  exit\n  t  empty\n  s  not_installed"},
		{"or had no time left to be", []clichain.Attempt{try(clichain.ReasonExit), skip(clichain.ReasonTimeout), skip(clichain.ReasonNotInstalled)},
			clichain.ReasonTimeout, true, "clichain: no backend answered (1 tried, 2 skipped)\n  t  exit\n  s  timeout\n  s  not_installed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := &clichain.ChainError{Attempts: test.attempts}
			require.Equal(t, test.want, err.Reason())
			require.Equal(t, test.tried, err.Tried())
			require.Equal(t, test.text, err.Error())
		})
	}
}

func TestChainErrorJSON(t *testing.T) {
	err := &clichain.ChainError{Attempts: []clichain.Attempt{failedAttempt("claude", clichain.ReasonSuppressed, true), failedAttempt("gemini", clichain.ReasonTimeout, false)}}
	err.Attempts[1].Duration = 25 * time.Second
	data, marshalErr := json.Marshal(err)
	require.NoError(t, marshalErr)
	require.JSONEq(t, `{"reason": "timeout", "message": "clichain: no backend answered (1 tried, 1 skipped)", "attempts": [
		{"backend": "claude", "reason": "suppressed", "skipped": true, "duration_ms": 0, "error": {"backend": "claude", "reason": "suppressed", "exit_code": -1}},
		{"backend": "gemini", "reason": "timeout", "skipped": false, "duration_ms": 25000, "error": {"backend": "gemini", "reason": "timeout", "exit_code": -1}}
	]}`, string(data))
	data, marshalErr = json.Marshal(&clichain.ChainError{})
	require.NoError(t, marshalErr)
	require.JSONEq(t, `{"reason": "", "message": "clichain: no backends to try", "attempts": []}`, string(data))
}

func TestAttemptSurvivesJSON(t *testing.T) {
	for _, test := range []struct {
		name    string
		attempt clichain.Attempt
		want    clichain.Attempt
	}{
		{"zero", clichain.Attempt{}, clichain.Attempt{}},
		{"failure", failedAttempt("c", clichain.ReasonExit, false), failedAttempt("c", clichain.ReasonExit, false)},
		{"skip with usage", clichain.Attempt{Backend: "c", Reason: clichain.ReasonEmpty, Skipped: true, Duration: 1001 * time.Microsecond, Usage: clichain.Usage{OutputTokens: 2}},
			clichain.Attempt{Backend: "c", Reason: clichain.ReasonEmpty, Skipped: true, Duration: 1001 * time.Microsecond, Usage: clichain.Usage{OutputTokens: 2}}},
		{"a stranger's error keeps its text", clichain.Attempt{Backend: "c", Reason: clichain.ReasonExit, Err: strange{1}},
			clichain.Attempt{Backend: "c", Reason: clichain.ReasonExit, Err: &clichain.BackendError{Backend: "c", Reason: clichain.ReasonExit, ExitCode: -1, Message: "strange"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			data, err := json.Marshal(test.attempt)
			require.NoError(t, err)
			var back clichain.Attempt
			require.NoError(t, json.Unmarshal(data, &back))
			require.Equal(t, test.want, back)
		})
	}
}

func TestResponseSurvivesJSON(t *testing.T) {
	resp := clichain.Response{
		Text: "42", Backend: "claude", Provider: "anthropic-cli", Model: "opus", Session: "claude:1", KeySource: "none",
		Usage:    clichain.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5, Turns: 6, CostUSD: new(0.0)},
		Duration: 1234567 * time.Microsecond, Attempts: []clichain.Attempt{failedAttempt("gemini", clichain.ReasonTimeout, false)},
		Warnings: []string{"w"}, Metadata: map[string]string{"k": "v"},
	}
	data, err := json.Marshal(resp)
	require.NoError(t, err)
	require.Contains(t, string(data), `"duration_ms":1234.567`)
	require.Contains(t, string(data), `"cost_usd":0`, "a cost of nothing is not an unknown cost")
	var back clichain.Response
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, resp, back)

	data, err = json.Marshal(clichain.Response{Text: "42", Backend: "c"})
	require.NoError(t, err)
	require.JSONEq(t, `{"text":"42","backend":"c","duration_ms":0}`, string(data))
	require.Error(t, json.Unmarshal([]byte(`{"duration_ms":"soon"}`), &back))
	require.Error(t, json.Unmarshal([]byte(`{"backend":7}`), new(clichain.Attempt)))
}

// A queue writes and reads a response several times. Its duration, in whole microseconds, must not drift.
func TestDurationsDoNotDrift(t *testing.T) {
	for us := int64(1); us < 200_000; us += 101 {
		want := time.Duration(us) * time.Microsecond
		data, err := json.Marshal(clichain.Response{Duration: want})
		require.NoError(t, err)
		var back clichain.Response
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, want, back.Duration)
	}
}

// The text has one line for each backend, nested ones too, in columns: the reason first, the hint last.
func TestChainErrorText(t *testing.T) {
	err := nestedChainError()
	err.Note = "nobody else was asked"
	err.Attempts[0].Err.(*clichain.BackendError).Hint = "unset SKIP_CLI"
	err.Attempts[1].Err = &clichain.BackendError{Backend: "gemini", Reason: clichain.ReasonUnsupported, Option: "effort", Message: "a\nb", Hint: "update the CLI"}
	require.Equal(t, `clichain: no backend answered (3 tried, 1 skipped): nobody else was asked
  claude        suppressed            [unset SKIP_CLI]
  gemini        unsupported (effort)  a b [update the CLI]
  other         exit                  strange
  chain/inner   not_installed         stat /x: file does not exist
  chain/inner2  billing`, err.Error())
}

// A failure reports its cost, the time for a retry, and the reason that counts among those of its attempts.
func TestChainErrorForBatches(t *testing.T) {
	at := func(minutes int) time.Time { return time.Date(2030, 1, 1, 0, minutes, 0, 0, time.UTC) }
	said := func(backend string, reason clichain.Reason, minutes int, cost float64) clichain.Attempt {
		a := failedAttempt(backend, reason, false)
		a.Err.(*clichain.BackendError).RetryAfter, a.Usage.CostUSD, a.Usage.Turns = at(minutes), &cost, 1
		return a
	}
	inner := &clichain.ChainError{Attempts: []clichain.Attempt{
		said("codex", clichain.ReasonUsageLimit, 9, 0), failedAttempt("opencode", clichain.ReasonExit, false),
	}}
	err := &clichain.ChainError{Attempts: []clichain.Attempt{
		said("claude", clichain.ReasonOverloaded, 1, 0.25), // retried after that
		said("claude", clichain.ReasonRateLimited, 30, 0.5),
		failedAttempt("missing", clichain.ReasonNotInstalled, true),
		{Backend: "chain", Reason: clichain.ReasonUsageLimit, Err: inner},
		said("gemini", clichain.ReasonUsageLimit, 20, 1),
	}}
	require.Equal(t, at(9), err.RetryAfter())
	require.Equal(t, clichain.ReasonUsageLimit, err.Reason())
	require.ErrorIs(t, err, clichain.ErrRateLimited)
	require.True(t, err.Reason().Temporary())
	require.EqualValues(t, 3, err.Usage().Turns)
	require.InDelta(t, 1.75, *err.Usage().CostUSD, 1e-9)

	err.Attempts = err.Attempts[:3]
	require.Equal(t, at(30), err.RetryAfter())
	silent := &clichain.ChainError{Attempts: []clichain.Attempt{failedAttempt("a", clichain.ReasonExit, false)}}
	require.Zero(t, silent.RetryAfter())
	require.Nil(t, silent.Usage().CostUSD)
	require.Zero(t, (&clichain.ChainError{}).RetryAfter())
}
