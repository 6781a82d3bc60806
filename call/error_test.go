package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/plaintext"
)

func requireOneLine(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		require.False(t, unicode.IsControl(r) || r == '\u2028' || r == '\u2029', "%q in %q", r, text)
	}
}

func reasonOf(err error) Reason {
	s, _ := err.(sentinel)
	return Reason(s)
}

// sentinels contains the error values by their names in the source.
var sentinels = map[string]error{
	"ErrSuppressed": ErrSuppressed, "ErrNotInstalled": ErrNotInstalled, "ErrUnsupported": ErrUnsupported,
	"ErrModelMismatch": ErrModelMismatch, "ErrCoolingDown": ErrCoolingDown, "ErrBudgetSpent": ErrBudgetSpent,
	"ErrReserved":        ErrReserved,
	"ErrUnauthenticated": ErrUnauthenticated, "ErrUntrustedDir": ErrUntrustedDir,
	"ErrPermissionRefused": ErrPermissionRefused, "ErrNestedSession": ErrNestedSession, "ErrUnconfined": ErrUnconfined,
	"ErrRateLimited": ErrRateLimited, "ErrUsageLimit": ErrUsageLimit, "ErrBilling": ErrBilling,
	"ErrOverloaded": ErrOverloaded, "ErrServerError": ErrServerError, "ErrNetwork": ErrNetwork,
	"ErrTimeout": ErrTimeout, "ErrIdleTimeout": ErrIdleTimeout, "ErrFirstOutputTimeout": ErrFirstOutputTimeout,
	"ErrBadModel": ErrBadModel, "ErrContextOverflow": ErrContextOverflow, "ErrBadRequest": ErrBadRequest,
	"ErrBadOption": ErrBadOption, "ErrBadSession": ErrBadSession, "ErrBadOutput": ErrBadOutput, "ErrEmpty": ErrEmpty, "ErrExit": ErrExit,
	"ErrKilled": ErrKilled, "ErrOutputLimit": ErrOutputLimit, "ErrSpawn": ErrSpawn, "ErrRejected": ErrRejected,
	"ErrCanceled": ErrCanceled,
}

// declaredReasons reads the constants from the source, which makes the list complete.
func declaredReasons(t *testing.T) map[string]Reason {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	require.NoError(t, err)
	reasons := map[string]Reason{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "Reason") {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			reasons[strings.TrimPrefix(spec.Names[0].Name, "Reason")] = Reason(value)
		}
		return true
	})
	require.Len(t, reasons, 34)
	return reasons
}

func TestEveryReasonHasASentinel(t *testing.T) {
	declared := declaredReasons(t)
	all := slices.Collect(maps.Values(declared))
	require.ElementsMatch(t, all, Reasons())
	require.Len(t, sentinels, len(declared))
	for name, reason := range declared {
		value, ok := sentinels["Err"+name]
		require.True(t, ok, name)
		require.Equal(t, reason, reasonOf(value))
		require.Equal(t, "clichain: "+string(reason), value.Error())
	}
}

func TestBackendErrorMatchesItsSentinelOnly(t *testing.T) {
	for _, reason := range declaredReasons(t) {
		err := error(&Error{Backend: "claude", Reason: reason})
		for name, value := range sentinels {
			require.Equal(t, reasonOf(value) == reason, errors.Is(err, value), "%s is %s", reason, name)
		}
	}
	require.NotErrorIs(t, &Error{}, ErrTimeout)
}

func TestBackendErrorUnwraps(t *testing.T) {
	err := &Error{Reason: ReasonNotInstalled, Err: &fs.PathError{Op: "stat", Path: "/x", Err: fs.ErrNotExist}}
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, ok := errors.AsType[*fs.PathError](error(err))
	require.True(t, ok)
	require.NoError(t, errors.Unwrap(&Error{Reason: ReasonExit}))
}

func TestBackendErrorText(t *testing.T) {
	type be = Error
	for _, test := range []struct {
		name string
		err  be
		want string
	}{
		{"message", be{Backend: "claude", Reason: ReasonRateLimited, Message: "slow down"}, "claude: rate_limited: slow down"},
		{"message takes precedence", be{Backend: "c", Reason: ReasonExit, Message: "m", Err: errors.New("e"), ExitCode: 2, Stderr: "s"}, "c: exit: m"},
		{"cause", be{Backend: "c", Reason: ReasonCanceled, Err: context.Canceled, ExitCode: -1}, "c: canceled: context canceled"},
		{"last line of stderr", be{Backend: "c", Reason: ReasonExit, ExitCode: 3, Stderr: "warning\nfatal: x\n\n"}, "c: exit: exit status 3: fatal: x"},
		{"only exit status", be{Backend: "c", Reason: ReasonExit, ExitCode: 3}, "c: exit: exit status 3"},
		{"exit code 0", be{Backend: "c", Reason: ReasonBadOutput, Stderr: "warning"}, "c: bad_output"},
		{"killed", be{Backend: "c", Reason: ReasonKilled, ExitCode: -1, Stderr: "warning"}, "c: killed"},
		{"sentinel of the reason as the cause", be{Backend: "c", Reason: ReasonTimeout, Err: ErrTimeout, ExitCode: 3}, "c: timeout: exit status 3"},
		{"sentinel of another reason as the cause", be{Backend: "c", Reason: ReasonTimeout, Err: ErrNetwork}, "c: timeout: clichain: network"},
		{"no details", be{Backend: "c", Reason: ReasonTimeout, ExitCode: -1}, "c: timeout"},
		{"option", be{Backend: "c", Reason: ReasonUnsupported, Option: "effort", Message: "no"}, "c: unsupported (effort): no"},
		{"hint", be{Backend: "c", Reason: ReasonUnauthenticated, Message: "who?", Hint: "run `c login`"}, "c: unauthenticated: who? [run `c login`]"},
		{"no backend", be{Reason: ReasonBadOption}, "bad_option"},
		{"message with several lines", be{Backend: "c", Reason: ReasonExit, Message: "a\r\n\tb\n\nc"}, "c: exit: a b c"},
		{"cause with several lines", be{Backend: "c", Reason: ReasonExit, Err: errors.New("a\nb")}, "c: exit: a b"},
		{"colours", be{Backend: "c", Reason: ReasonExit, Message: "\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x1b\\"}, "c: exit: red link"},
		{"control characters", be{Backend: "c", Reason: ReasonExit, ExitCode: 1, Stderr: "a\x00b\x07\x7f\u009bc\u2028d\u0085e"}, "c: exit: exit status 1: abc d e"},
		{"hint with several lines", be{Backend: "c", Reason: ReasonExit, Hint: "do\nthis"}, "c: exit [do this]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, test.err.Error())
			requireOneLine(t, test.err.Error())
		})
	}
}

func TestOneLineIsBounded(t *testing.T) {
	got := plaintext.OneLine(strings.Repeat("中", 1000))
	require.Equal(t, strings.Repeat("中", 299)+"…", got)
	require.Equal(t, strings.Repeat("x", 300), plaintext.OneLine(strings.Repeat("x", 300)))
}

func TestBackendErrorSurvivesJSON(t *testing.T) {
	err := Error{
		Backend: "claude", Reason: ReasonUsageLimit, Message: "limit", Option: "model", ExitCode: 1, Stderr: "a\nb", Partial: "half",
		RetryAfter: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), Hint: "wait", Usage: Usage{InputTokens: 3, CostUSD: new(0.5)},
		Earlier: []Attempt{{Backend: "claude", Reason: ReasonOverloaded, Duration: 1500 * time.Microsecond}}, SideEffects: true,
	}
	data, marshalErr := json.Marshal(err)
	require.NoError(t, marshalErr)
	for _, field := range []string{`"reason":"usage_limit"`, `"exit_code":1`, `"retry_after":"2026-11-20T15:00:00Z"`, `"side_effects":true`, `"duration_ms":1.5`} {
		require.Contains(t, string(data), field)
	}
	var back Error
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, err, back)

	data, marshalErr = json.Marshal(Error{Backend: "c", Reason: ReasonExit})
	require.NoError(t, marshalErr)
	require.JSONEq(t, `{"backend":"c","reason":"exit","exit_code":0}`, string(data))
}

// Temporary lists only reasons that are known to pass without an action of the user.
func TestTemporaryReasons(t *testing.T) {
	var passing []string
	for _, reason := range Reasons() {
		if reason.Temporary() {
			passing = append(passing, string(reason))
		}
	}
	require.Equal(t, []string{
		"cooling_down", "reserved", "budget_spent", "rate_limited", "usage_limit", "overloaded", "server_error", "network",
		"timeout", "idle_timeout", "first_output_timeout",
	}, passing)
	require.False(t, Reason("").Temporary())
}

// A chain stops if every other backend would refuse the request too, or if the caller canceled it.
func TestReasonsThatStopAChain(t *testing.T) {
	var stops []Reason
	for _, reason := range Reasons() {
		if reason.StopsChain() {
			stops = append(stops, reason)
		}
	}
	require.Equal(t, []Reason{ReasonBadRequest, ReasonBadOption, ReasonBadSession, ReasonCanceled}, stops)
	require.False(t, Reason("").StopsChain())
}

// AsError turns any error into an *Error with a backend and a Reason, and repeats no part of its text.
func TestAsErrorNamesTheReason(t *testing.T) {
	for text, err := range map[string]error{
		"b: rate_limited":                       ErrRateLimited,
		"b: rate_limited: quota":                fmt.Errorf("quota: %w", ErrRateLimited),
		"b: rate_limited: of today":             fmt.Errorf("%w: of today", ErrRateLimited),
		"b: timeout: context deadline exceeded": context.DeadlineExceeded,
		"b: exit: hm":                           errors.New("hm"),
		"a: network: down":                      fmt.Errorf("x: %w", &Error{Backend: "a", Reason: ReasonNetwork, Message: "down"}),
		"b: network: down":                      &Error{Reason: ReasonNetwork, Message: "down"},
		"b: overloaded":                         &Error{Err: ErrOverloaded},
		"b: exit: no Reason":                    &Error{Backend: "b", Message: "no Reason"},
	} {
		before := err.Error()
		be := AsError("b", err)
		require.Equal(t, text, be.Error())
		require.ErrorIs(t, be, be.Reason.Err())
		require.Equal(t, before, err.Error(), "the original error is unchanged")
	}
	wrapped := fmt.Errorf("x: %w", &Error{Message: "m"})
	require.ErrorIs(t, AsError("b", wrapped), wrapped)
}

// AsError returns a complete error as it is, and completes any other without a change of the original.
func TestAsErrorCompletes(t *testing.T) {
	complete := &Error{Backend: "a", Reason: ReasonNetwork, ExitCode: 3, Err: errors.New("down")}
	require.Same(t, complete, AsError("b", complete))
	require.Same(t, complete, AsError("b", fmt.Errorf("x: %w", complete)))

	cause := errors.New("down")
	nameless := &Error{Reason: ReasonNetwork, ExitCode: 3, Err: cause}
	require.Equal(t, &Error{Backend: "b", Reason: ReasonNetwork, ExitCode: 3, Err: cause}, AsError("b", nameless))
	require.Equal(t, &Error{Reason: ReasonNetwork, ExitCode: 3, Err: cause}, nameless)

	require.Equal(t, &Error{Backend: "b", Reason: ReasonExit, ExitCode: -1, Err: cause}, AsError("b", cause))
	limited := fmt.Errorf("quota: %w", ErrRateLimited)
	require.Equal(t, &Error{Backend: "b", Reason: ReasonRateLimited, ExitCode: -1, Message: "quota", Err: limited}, AsError("b", limited))
}

// The author of a nil pointer meant no error, but the caller has one.
func TestNilPointerAsError(t *testing.T) {
	require.Equal(t,
		&Error{Backend: "b", Reason: ReasonBadOutput, ExitCode: -1, Message: "the error of the backend is a nil *fs.PathError"},
		AsError("b", (*fs.PathError)(nil)))
}

// timeouts is an error with a Timeout method.
type timeouts bool

func (timeouts) Error() string   { return "hm" }
func (t timeouts) Timeout() bool { return bool(t) }

func TestReasonOfATimeoutMethod(t *testing.T) {
	require.Equal(t, ReasonTimeout, AsError("b", timeouts(true)).Reason)
	require.Equal(t, ReasonExit, AsError("b", timeouts(false)).Reason)
}

func TestErrorf(t *testing.T) {
	require.Equal(t, &Error{Reason: ReasonBadOption, Option: "dir", Message: "is 7", ExitCode: -1}, Errorf(ReasonBadOption, "dir", "is %d", 7))
}
