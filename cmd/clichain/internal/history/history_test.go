package history

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/calllog"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/consoletest"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if err := os.Setenv("TZ", "UTC"); err != nil {
		panic(err)
	}
	os.Exit(clitest.Run(m))
}

// morning is the time of the first call.
var morning = time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)

func usageOf(input, output int64, usd float64) call.Usage {
	u := call.Usage{InputTokens: input, OutputTokens: output}
	if usd >= 0 {
		u.CostUSD = &usd
	}
	return u
}

// calls are calls of several days, with unusual texts.
func calls() []calllog.Record {
	list := []calllog.Record{
		{
			Backend: "claude", Model: "claude-sonnet-4-5", Duration: 8400 * time.Millisecond, Project: "/home/me/shop",
			Usage: usageOf(123_456, 4321, 0.4321), Attempts: []calllog.Attempt{
				{Backend: "codex", Reason: clichain.ReasonUsageLimit, Usage: usageOf(100, 0, -1)},
				{Backend: "gemini", Reason: clichain.ReasonNotInstalled, Skipped: true},
				{Backend: "claude", Usage: usageOf(123_356, 4321, 0.4321)},
			},
			Metadata: []string{"job", "team"},
			Prompt:   []call.Message{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "Why?\n\x1b[2JHow?\n"}},
			Answer:   "Because.\n",
		},
		{Backend: "codex", Model: "gpt-5", Duration: 95 * time.Second, Usage: usageOf(12_000_000, 99_999, -1)},
		{
			Backend: "a-backend-with-a-long-name", Model: "m\x1b[2J\nm", Duration: time.Millisecond,
			Project: "/home/me/" + strings.Repeat("a-long-name/", 12), Usage: usageOf(7, 1, 1234.5),
		},
		{
			Backend: "codex", Reason: clichain.ReasonTimeout, Duration: 2 * time.Minute, Message: "no answer in time",
			Attempts: []calllog.Attempt{{Backend: "codex", Reason: clichain.ReasonTimeout}}, Truncated: true,
		},
	}
	for i := range list {
		list[i].ID = strings.Repeat(string(rune('a'+i)), 12)
		list[i].Time = morning.Add(time.Duration(i) * 20 * time.Hour)
	}
	return list
}

// logged returns the environment of a command whose log has these records, and its output.
func logged(t *testing.T, list []calllog.Record) (r *selection.Resolver, stdout, stderr *bytes.Buffer) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	r = selection.NewResolver(&console.Env{Out: stdout, Err: stderr, Getenv: func(string) string { return "" }})
	r.ConfigFlag = "off"
	log, err := r.CallLog()
	require.NoError(t, err)
	for _, c := range list {
		require.NoError(t, log.Append(t.Context(), c))
	}
	return r, stdout, stderr
}

func TestTables(t *testing.T) {
	r, _, _ := logged(t, calls())
	table := func(s console.Style, width int) string {
		var out strings.Builder
		for _, by := range Groups {
			sums, err := summarize(r, calllog.Filter{}, by)
			require.NoError(t, err)
			out.WriteString(sums.table(s, width))
		}
		return out.String()
	}
	consoletest.Golden(t, "history", table, "\x1b[1m", "\x1b[0m")
	lines := func(s console.Style, width int) string { return callLines(calls(), s, width) }
	consoletest.Golden(t, "calls", lines, "\x1b[2m", "\x1b[31m", "\x1b[0m")
	pages := func(s console.Style, width int) string {
		return callPage(calls()[0], s, width) + callPage(calls()[3], s, width)
	}
	consoletest.Golden(t, "call", pages, "\x1b[1m", "\x1b[2m", "\x1b[0m")
}

func TestPrint(t *testing.T) {
	r, out, _ := logged(t, calls())
	require.NoError(t, Print(r, Options{By: ByBackend, JSON: true}))
	var got summary
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Equal(t, 4, got.Total.Calls)
	require.Equal(t, 1, got.Total.Failed)
	require.InDelta(t, 1234.9321, *got.Total.Usage.CostUSD, 1e-9)
	require.Equal(t, "codex", got.Rows[0].Key)
	require.Equal(t, 3, got.Rows[0].Calls, "runs, also of a call that another backend answered")
	require.Equal(t, 2, got.Rows[0].Failed)

	out.Reset()
	require.NoError(t, Print(r, Options{Filter: Filter{since: since{date: morning.Add(50 * time.Hour)}}}))
	require.Regexp(t, `(?s)^day .*\n2026-03-04 +1 +1 .*\nall calls +1 +1 .*\n$`, out.String())
}

// On a narrow terminal, the keys are more important than the tokens.
func TestTableOnNarrowTerminal(t *testing.T) {
	r, _, _ := logged(t, calls())
	sums, err := summarize(r, calllog.Filter{}, ByDay)
	require.NoError(t, err)
	require.Equal(t, strings.Join([]string{
		"day         calls  failed  output      cost",
		"2026-03-02      1       0    4321   $0.4321",
		"2026-03-03      1       0     99k         -",
		"2026-03-04      2       1       1  $1234.50",
		"all calls       4       1    104k  $1234.93",
	}, "\n")+"\n", sums.table(console.Style{}, 46))
	for line := range strings.Lines(sums.table(console.Style{}, 20)) {
		require.LessOrEqual(t, console.WidthOf(strings.TrimSuffix(line, "\n")), 40, line)
		require.NotContains(t, line, "…")
	}
}

func TestPrintNothing(t *testing.T) {
	r, out, _ := logged(t, nil)
	require.NoError(t, Print(r, Options{}))
	require.Equal(t, nothingLogged, out.String())
	out.Reset()
	require.NoError(t, Print(r, Options{JSON: true}))
	require.Equal(t, `{"by":"day","rows":[],"total":{"calls":0,"failed":0}}`+"\n", out.String())
}

func TestVerify(t *testing.T) {
	r, out, stderr := logged(t, calls())
	require.NoError(t, Verify(t.Context(), r, false))
	require.Regexp(t, `^4 records in .*/clichain/calls\nthe log is unchanged\n$`, out.String())

	log, err := r.CallLog()
	require.NoError(t, err)
	path := filepath.Join(log.Dir(), "00000001.jsonl")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.Replace(data, []byte("gpt-5"), []byte("gpt-4"), 1), 0o600))
	out.Reset()
	err = Verify(t.Context(), r, false)
	require.ErrorContains(t, err, "the log was changed: 1 problem")
	require.Equal(t, console.ExitFailed, err.(*console.ExitError).Status)
	require.Contains(t, out.String(), "  00000001.jsonl, line 3: the line or the line before was changed")
	require.NotContains(t, out.String(), "unchanged")
	out.Reset()
	require.Error(t, Verify(t.Context(), r, true))
	require.Contains(t, out.String(), `"records":4,"removed":0,"problems":[{"file":"00000001.jsonl","line":3,`)

	require.NoError(t, os.WriteFile(path, []byte("damaged\n"+string(data)), 0o600))
	out.Reset()
	require.NoError(t, Print(r, Options{}))
	require.Contains(t, stderr.String(), "warning: calllog: 00000001.jsonl, line 1: ")
	require.Contains(t, stderr.String(), "see `clichain usage --verify`")
}

func TestParseSince(t *testing.T) {
	for text, want := range map[string]time.Time{
		"36h": morning.Add(-36 * time.Hour), "7d": morning.Add(-7 * day), "2026-03-01": time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
	} {
		s, err := parseSince(text)
		require.NoError(t, err, text)
		require.True(t, want.Equal(s.at(morning)), text)
	}
	for _, text := range []string{"", "d", "0d", "-3d", "99999d", "-1h", "0", "yesterday", "2026-13-01"} {
		_, err := parseSince(text)
		require.ErrorContains(t, err, "write a duration", text)
	}
}
