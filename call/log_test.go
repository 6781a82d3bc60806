package call

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// logged returns the line that a text logger writes for a value.
func logged(v slog.LogValuer) string {
	var b strings.Builder
	h := slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key != "" && a.Key != "v" {
			return slog.Attr{}
		}
		return a
	}})
	slog.New(h).Info("", "v", v)
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "v.", "")
}

// A log contains what is known, and nothing else.
func TestLoggedValues(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	long := strings.Repeat("x", 3*maxLoggedStderr)
	for _, test := range []struct {
		name, want string
		value      slog.LogValuer
	}{
		{"error without details", `backend=c reason=exit`, &Error{Backend: "c", Reason: ReasonExit}},
		{"killed", `backend=c reason=killed`, &Error{Backend: "c", Reason: ReasonKilled, ExitCode: -1}},
		{
			"error with all details",
			`backend=c reason=usage_limit option=model message=slow hint=wait stderr=oops exit_code=1 retry_after=2026-11-20T15:00:00.000Z`,
			&Error{Backend: "c", Reason: ReasonUsageLimit, Option: "model", Message: "slow", Hint: "wait", Stderr: "oops", ExitCode: 1, RetryAfter: at, Partial: "secret"},
		},
		{
			"end of stderr", `reason=empty stderr="… ` + strings.Repeat("x", maxLoggedStderr-len("… ")) + `"`,
			&Error{Reason: ReasonEmpty, Stderr: long},
		},
		{"skip", `backend=c reason=suppressed skipped=true duration=0s`, Attempt{Backend: "c", Reason: ReasonSuppressed, Skipped: true}},
		{
			"failed attempt", `backend=c reason=exit skipped=false duration=2s error.backend=c error.reason=exit error.message=hm`,
			Attempt{Backend: "c", Reason: ReasonExit, Duration: 2 * time.Second, Err: errors.New("hm")},
		},
		{
			"attempt of a chain",
			`backend=c reason=exit skipped=false duration=0s error.reason=exit ` +
				`error.message="clichain: no backend answered (1 tried, 0 skipped)" error.attempts="[a exit]"`,
			Attempt{Backend: "c", Reason: ReasonExit, Err: &ChainError{Attempts: []Attempt{failedAttempt("a", ReasonExit, false)}}},
		},
		{
			"chain",
			`reason=exit message="clichain: no backend answered (1 tried, 1 skipped): why" attempts="[a suppressed [unset SKIP_CLI] bb exit]"`,
			&ChainError{Note: "why", Attempts: []Attempt{
				{Backend: "a", Skipped: true, Err: &Error{Reason: ReasonSuppressed, Hint: "unset SKIP_CLI"}}, failedAttempt("bb", ReasonExit, false),
			}},
		},
		{"chain without backends", `reason="" message="clichain: no backends to try" attempts=[]`, new(ChainError)},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, logged(test.value)) })
	}
}

// A text of limited length keeps its end, which is valid UTF-8.
func TestTail(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		most             int
	}{
		{"empty", "", "", 8},
		{"shorter", "1234567", "1234567", 8},
		{"as long", "12345678", "12345678", 8},
		{"longer", "123456789", "… 6789", 8},
		{"within a character", "1234éé890", "… é890", 10},
		{"only the sign", "123456789", "… ", len("… ")},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, tail(test.text, test.most)) })
	}
	data, err := json.Marshal(Attempt{Err: &Error{Backend: "c", Reason: ReasonExit, Stderr: strings.Repeat("x", 2*maxJSONStderr)}})
	require.NoError(t, err)
	require.Contains(t, string(data), `"stderr":"… `+strings.Repeat("x", maxJSONStderr-len("… "))+`"`)
}
