package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/require"
)

func failedAttempt(backend string, reason Reason, skipped bool) Attempt {
	return Attempt{Backend: backend, Reason: reason, Skipped: skipped, Err: &Error{Backend: backend, Reason: reason, ExitCode: -1}}
}

// strange is an error type of a foreign backend.
type strange struct{ code int }

func (strange) Error() string { return "strange" }

func nestedChainError() *ChainError {
	stranger := failedAttempt("other", ReasonExit, false)
	stranger.Err = strange{7}
	missing := failedAttempt("inner", ReasonNotInstalled, true)
	missing.Err.(*Error).Err = &fs.PathError{Op: "stat", Path: "/x", Err: fs.ErrNotExist}
	inner := &ChainError{Attempts: []Attempt{missing, failedAttempt("inner2", ReasonBilling, false)}}
	return &ChainError{Attempts: []Attempt{
		failedAttempt("claude", ReasonSuppressed, true),
		failedAttempt("gemini", ReasonTimeout, false),
		stranger,
		{Backend: "chain", Reason: ReasonBilling, Err: inner},
	}}
}

func TestChainErrorFindsEveryAttempt(t *testing.T) {
	err := error(nestedChainError())
	for _, target := range []error{
		ErrSuppressed, ErrTimeout, ErrNotInstalled, ErrBilling, fs.ErrNotExist, strange{7},
	} {
		require.ErrorIs(t, err, target)
	}
	for _, target := range []error{ErrCanceled, ErrExit, context.Canceled, strange{8}} {
		require.NotErrorIs(t, err, target)
	}
	found, ok := errors.AsType[strange](err)
	require.True(t, ok)
	require.Equal(t, 7, found.code)
	first, ok := errors.AsType[*Error](err)
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
	var inner *ChainError
	require.ErrorAs(t, all.Errors[3], &inner)
	require.Len(t, inner.Attempts, 2)
	all, ok = errors.AsType[*multierror.Error](error(&ChainError{}))
	require.True(t, ok, "even when nothing was tried")
	require.Empty(t, all.Errors)
}

func TestChainErrorCause(t *testing.T) {
	cause := &Error{Reason: ReasonCanceled, ExitCode: -1, Err: context.DeadlineExceeded}
	err := &ChainError{Attempts: []Attempt{failedAttempt("gemini", ReasonTimeout, false)}, Cause: cause}
	require.ErrorIs(t, err, ErrCanceled)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, ErrTimeout)
	require.Equal(t, ReasonCanceled, err.Reason())
	require.Equal(t, "clichain: canceled: context deadline exceeded\n  gemini  timeout", err.Error())
}

func TestChainErrorReason(t *testing.T) {
	skip := func(r Reason) Attempt { return failedAttempt("s", r, true) }
	try := func(r Reason) Attempt { return failedAttempt("t", r, false) }
	for _, test := range []struct {
		name     string
		attempts []Attempt
		want     Reason
		tried    bool
		text     string
	}{
		{"nothing to try", nil, "", false, "clichain: no backends to try"},
		{"only skips: the first", []Attempt{skip(ReasonSuppressed), skip(ReasonNotInstalled)}, ReasonSuppressed, false,
			"clichain: no backend answered (0 tried, 2 skipped)\n  s  suppressed\n  s  not_installed"},
		{"the last that was tried", []Attempt{try(ReasonExit), try(ReasonEmpty), skip(ReasonNotInstalled)}, ReasonEmpty, true,
			"clichain: no backend answered (2 tried, 1 skipped)\n  t  exit\n  t  empty\n  s  not_installed"},
		{"or had no time left to be", []Attempt{try(ReasonExit), skip(ReasonTimeout), skip(ReasonNotInstalled)},
			ReasonTimeout, true, "clichain: no backend answered (1 tried, 2 skipped)\n  t  exit\n  s  timeout\n  s  not_installed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := &ChainError{Attempts: test.attempts}
			require.Equal(t, test.want, err.Reason())
			require.Equal(t, test.tried, err.Tried())
			require.Equal(t, test.text, err.Error())
		})
	}
}

func TestChainErrorJSON(t *testing.T) {
	err := &ChainError{Attempts: []Attempt{failedAttempt("claude", ReasonSuppressed, true), failedAttempt("gemini", ReasonTimeout, false)}}
	err.Attempts[1].Duration = 25 * time.Second
	data, marshalErr := json.Marshal(err)
	require.NoError(t, marshalErr)
	require.JSONEq(t, `{"reason": "timeout", "message": "clichain: no backend answered (1 tried, 1 skipped)", "attempts": [
		{"backend": "claude", "reason": "suppressed", "skipped": true, "duration_ms": 0, "error": {"backend": "claude", "reason": "suppressed", "exit_code": -1}},
		{"backend": "gemini", "reason": "timeout", "skipped": false, "duration_ms": 25000, "error": {"backend": "gemini", "reason": "timeout", "exit_code": -1}}
	]}`, string(data))
	data, marshalErr = json.Marshal(&ChainError{})
	require.NoError(t, marshalErr)
	require.JSONEq(t, `{"reason": "", "message": "clichain: no backends to try", "attempts": []}`, string(data))
}

// The text has one line for each backend, nested ones too, in columns: the reason first, the hint last.
func TestChainErrorText(t *testing.T) {
	err := nestedChainError()
	err.Note = "nobody else was asked"
	err.Attempts[0].Err.(*Error).Hint = "unset SKIP_CLI"
	err.Attempts[1].Err = &Error{Backend: "gemini", Reason: ReasonUnsupported, Option: "effort", Message: "a\nb", Hint: "update the CLI"}
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
	said := func(backend string, reason Reason, minutes int, cost float64) Attempt {
		a := failedAttempt(backend, reason, false)
		a.Err.(*Error).RetryAfter, a.Usage.CostUSD, a.Usage.Turns = at(minutes), &cost, 1
		return a
	}
	inner := &ChainError{Attempts: []Attempt{
		said("codex", ReasonUsageLimit, 9, 0), failedAttempt("opencode", ReasonExit, false),
	}}
	err := &ChainError{Attempts: []Attempt{
		said("claude", ReasonOverloaded, 1, 0.25), // retried after that
		said("claude", ReasonRateLimited, 30, 0.5),
		failedAttempt("missing", ReasonNotInstalled, true),
		{Backend: "chain", Reason: ReasonUsageLimit, Err: inner},
		said("gemini", ReasonUsageLimit, 20, 1),
	}}
	require.Equal(t, at(9), err.RetryAfter())
	require.Equal(t, ReasonUsageLimit, err.Reason())
	require.ErrorIs(t, err, ErrRateLimited)
	require.True(t, err.Reason().Temporary())
	require.EqualValues(t, 3, err.Usage().Turns)
	require.InDelta(t, 1.75, *err.Usage().CostUSD, 1e-9)

	err.Attempts = err.Attempts[:3]
	require.Equal(t, at(30), err.RetryAfter())
	silent := &ChainError{Attempts: []Attempt{failedAttempt("a", ReasonExit, false)}}
	require.Zero(t, silent.RetryAfter())
	require.Nil(t, silent.Usage().CostUSD)
	require.Zero(t, (&ChainError{}).RetryAfter())
}

// Skips count for the Reason only if no process was started: first those that every backend would share, then those
// that an operator can correct.
func TestChainErrorReasonOfSkips(t *testing.T) {
	absent, cooling := failedAttempt("a", ReasonNotInstalled, true), failedAttempt("c", ReasonCoolingDown, true)
	invalid := Attempt{Backend: "i", Reason: ReasonBadOption, Skipped: true, Err: ConfigErrorf("config.binary", "no")}
	chain := func(attempts ...Attempt) *ChainError { return &ChainError{Attempts: attempts} }
	for _, test := range []struct {
		name string
		err  *ChainError
		want Reason
	}{
		{"invalid request", chain(absent, failedAttempt("b", ReasonBadRequest, true), cooling), ReasonBadRequest},
		{"invalid settings", chain(absent, invalid, cooling), ReasonBadOption},
		{"invalid settings in a nested chain", chain(absent, Attempt{Reason: ReasonBadOption, Skipped: true, Err: chain(invalid)}), ReasonBadOption},
		{"nested chain with other skips", chain(absent, Attempt{Reason: ReasonCoolingDown, Skipped: true, Err: chain(cooling)}), ReasonNotInstalled},
		{"invalid settings, and a failure", chain(failedAttempt("a", ReasonExit, false), invalid), ReasonExit},
		{"cause of another type", &ChainError{Cause: context.Canceled, Attempts: []Attempt{cooling}}, ReasonCoolingDown},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, test.err.Reason()) })
	}
}

// An attempt without details, and a nested chain that asked no backend, are one line each.
func TestChainErrorLines(t *testing.T) {
	require.Equal(t, "clichain: no backend answered (2 tried, 0 skipped)\n  a      exit\n  chain  billing  clichain: no backends to try",
		(&ChainError{Attempts: []Attempt{{Backend: "a", Reason: ReasonExit}, {Backend: "chain", Reason: ReasonBilling, Err: new(ChainError)}}}).Error())
}

// The error of one backend may wrap the failure of a chain that it asked. It is not the failure of this chain.
func TestAsChainError(t *testing.T) {
	chain := &ChainError{Attempts: []Attempt{failedAttempt("a", ReasonExit, false)}}
	inside := &Error{Backend: "b", Reason: ReasonExit, Err: chain}
	outer := &ChainError{Attempts: []Attempt{{Backend: "b", Err: inside}}}
	for _, test := range []struct {
		name string
		err  error
		want *ChainError
	}{
		{"no error", nil, nil},
		{"other error", errors.New("hm"), nil},
		{"error of a backend", chain.Attempts[0].Err, nil},
		{"chain", chain, chain},
		{"wrapped chain", fmt.Errorf("x: %w", chain), chain},
		{"chain inside the error of a backend", inside, nil},
		{"chain of a backend that asked a chain", outer, outer},
	} {
		t.Run(test.name, func(t *testing.T) { require.Same(t, test.want, AsChainError(test.err)) })
	}
}
