package clichain_test

import (
	"context"
	"encoding/json"
	"errors"
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

	"github.com/clichain/clichain"
)

func requireOneLine(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		require.False(t, unicode.IsControl(r) || r == '\u2028' || r == '\u2029', "%q in %q", r, text)
	}
}

// sentinels are the error values, by their names in the source.
var sentinels = map[string]error{
	"ErrSuppressed": clichain.ErrSuppressed, "ErrNotInstalled": clichain.ErrNotInstalled, "ErrUnsupported": clichain.ErrUnsupported,
	"ErrModelMismatch": clichain.ErrModelMismatch, "ErrCoolingDown": clichain.ErrCoolingDown, "ErrBudgetSpent": clichain.ErrBudgetSpent,
	"ErrUnauthenticated": clichain.ErrUnauthenticated, "ErrUntrustedDir": clichain.ErrUntrustedDir,
	"ErrPermissionRefused": clichain.ErrPermissionRefused, "ErrNestedSession": clichain.ErrNestedSession,
	"ErrRateLimited": clichain.ErrRateLimited, "ErrUsageLimit": clichain.ErrUsageLimit, "ErrBilling": clichain.ErrBilling,
	"ErrOverloaded": clichain.ErrOverloaded, "ErrServerError": clichain.ErrServerError, "ErrNetwork": clichain.ErrNetwork,
	"ErrTimeout": clichain.ErrTimeout, "ErrIdleTimeout": clichain.ErrIdleTimeout, "ErrFirstOutputTimeout": clichain.ErrFirstOutputTimeout,
	"ErrBadModel": clichain.ErrBadModel, "ErrContextOverflow": clichain.ErrContextOverflow, "ErrBadRequest": clichain.ErrBadRequest,
	"ErrBadOption": clichain.ErrBadOption, "ErrBadSession": clichain.ErrBadSession, "ErrBadOutput": clichain.ErrBadOutput, "ErrEmpty": clichain.ErrEmpty, "ErrExit": clichain.ErrExit,
	"ErrKilled": clichain.ErrKilled, "ErrOutputLimit": clichain.ErrOutputLimit, "ErrSpawn": clichain.ErrSpawn, "ErrCanceled": clichain.ErrCanceled,
}

// declaredReasons reads the constants from the source, so that none is missed.
func declaredReasons(t *testing.T) map[string]clichain.Reason {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	require.NoError(t, err)
	reasons := map[string]clichain.Reason{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "Reason") {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			reasons[strings.TrimPrefix(spec.Names[0].Name, "Reason")] = clichain.Reason(value)
		}
		return true
	})
	require.Len(t, reasons, 31)
	return reasons
}

func TestEveryReasonHasASentinelAndAPolicy(t *testing.T) {
	declared := declaredReasons(t)
	all := slices.Collect(maps.Values(declared))
	require.ElementsMatch(t, all, clichain.PolicyReasons())
	require.Len(t, sentinels, len(declared))
	for name, reason := range declared {
		sentinel, ok := sentinels["Err"+name]
		require.True(t, ok, name)
		require.Equal(t, reason, clichain.ReasonOfSentinel(sentinel))
		require.Equal(t, "clichain: "+string(reason), sentinel.Error())
	}
}

func TestBackendErrorMatchesItsSentinelOnly(t *testing.T) {
	for _, reason := range declaredReasons(t) {
		err := error(&clichain.BackendError{Backend: "claude", Reason: reason})
		for name, sentinel := range sentinels {
			require.Equal(t, clichain.ReasonOfSentinel(sentinel) == reason, errors.Is(err, sentinel), "%s is %s", reason, name)
		}
	}
	require.NotErrorIs(t, &clichain.BackendError{}, clichain.ErrTimeout)
}

func TestBackendErrorUnwraps(t *testing.T) {
	err := &clichain.BackendError{Reason: clichain.ReasonNotInstalled, Err: &fs.PathError{Op: "stat", Path: "/x", Err: fs.ErrNotExist}}
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, ok := errors.AsType[*fs.PathError](error(err))
	require.True(t, ok)
	require.NoError(t, errors.Unwrap(&clichain.BackendError{Reason: clichain.ReasonExit}))
}

func TestBackendErrorText(t *testing.T) {
	type be = clichain.BackendError
	for _, test := range []struct {
		name string
		err  be
		want string
	}{
		{"message", be{Backend: "claude", Reason: clichain.ReasonRateLimited, Message: "slow down"}, "claude: rate_limited: slow down"},
		{"message before all else", be{Backend: "c", Reason: clichain.ReasonExit, Message: "m", Err: errors.New("e"), ExitCode: 2, Stderr: "s"}, "c: exit: m"},
		{"cause", be{Backend: "c", Reason: clichain.ReasonCanceled, Err: context.Canceled, ExitCode: -1}, "c: canceled: context canceled"},
		{"last line of stderr", be{Backend: "c", Reason: clichain.ReasonExit, ExitCode: 3, Stderr: "warning\nfatal: x\n\n"}, "c: exit: exit status 3: fatal: x"},
		{"exit status alone", be{Backend: "c", Reason: clichain.ReasonExit, ExitCode: 3}, "c: exit: exit status 3"},
		{"nothing to add", be{Backend: "c", Reason: clichain.ReasonTimeout, ExitCode: -1}, "c: timeout"},
		{"option", be{Backend: "c", Reason: clichain.ReasonUnsupported, Option: "effort", Message: "no"}, "c: unsupported (effort): no"},
		{"hint", be{Backend: "c", Reason: clichain.ReasonUnauthenticated, Message: "who?", Hint: "run `c login`"}, "c: unauthenticated: who? [run `c login`]"},
		{"no backend", be{Reason: clichain.ReasonBadOption}, "bad_option"},
		{"many lines", be{Backend: "c", Reason: clichain.ReasonExit, Message: "a\r\n\tb\n\nc"}, "c: exit: a b c"},
		{"cause of many lines", be{Backend: "c", Reason: clichain.ReasonExit, Err: errors.New("a\nb")}, "c: exit: a b"},
		{"colours", be{Backend: "c", Reason: clichain.ReasonExit, Message: "\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x1b\\"}, "c: exit: red link"},
		{"control characters", be{Backend: "c", Reason: clichain.ReasonExit, ExitCode: 1, Stderr: "a\x00b\x07\x7f\u009bc\u2028d\u0085e"}, "c: exit: exit status 1: abc d e"},
		{"a hint of many lines", be{Backend: "c", Reason: clichain.ReasonExit, Hint: "do\nthis"}, "c: exit [do this]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, test.err.Error())
			requireOneLine(t, test.err.Error())
		})
	}
}

func TestOneLineIsBounded(t *testing.T) {
	got := clichain.OneLine(strings.Repeat("中", 1000))
	require.Equal(t, strings.Repeat("中", 299)+"…", got)
	require.Equal(t, strings.Repeat("x", 300), clichain.OneLine(strings.Repeat("x", 300)))
}

func TestBackendErrorSurvivesJSON(t *testing.T) {
	err := clichain.BackendError{
		Backend: "claude", Reason: clichain.ReasonUsageLimit, Message: "limit", Option: "model", ExitCode: 1, Stderr: "a\nb", Partial: "half",
		RetryAfter: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), Hint: "wait", Usage: clichain.Usage{InputTokens: 3, CostUSD: new(0.5)},
		Earlier: []clichain.Attempt{{Backend: "claude", Reason: clichain.ReasonOverloaded, Duration: 1500 * time.Microsecond}}, SideEffects: true,
	}
	data, marshalErr := json.Marshal(err)
	require.NoError(t, marshalErr)
	for _, field := range []string{`"reason":"usage_limit"`, `"exit_code":1`, `"retry_after":"2026-11-20T15:00:00Z"`, `"side_effects":true`, `"duration_ms":1.5`} {
		require.Contains(t, string(data), field)
	}
	var back clichain.BackendError
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, err, back)

	data, marshalErr = json.Marshal(clichain.BackendError{Backend: "c", Reason: clichain.ReasonExit})
	require.NoError(t, marshalErr)
	require.JSONEq(t, `{"backend":"c","reason":"exit","exit_code":0}`, string(data))
}
