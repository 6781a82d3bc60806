package reserve_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// rollout returns a line of codex's file of a session that reports a used share of the primary window.
func rollout(at time.Time, percent int) string {
	return fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","rate_limits":`+
		`{"primary":{"used_percent":%d,"window_minutes":300,"resets_at":%d},"credits":null}}}`,
		at.UTC().Format(time.RFC3339), percent, at.Add(time.Hour).Unix()) + "\n"
}

func TestQuotaFromFileOfSession(t *testing.T) {
	clitest.NoLeaks(t)
	at := time.Now().Add(-time.Minute).UTC().Truncate(time.Second)
	answers := chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.ThreadAnswer(chaintest.AnID, "yes")))
	want := func(percent float64) []call.QuotaWindow {
		used := percent / 100
		return []call.QuotaWindow{{Name: "primary", Used: &used, Length: 5 * time.Hour, ResetsAt: at.Add(time.Hour), ObservedAt: at}}
	}
	later := strings.Repeat(`{"type":"response_item"}`+"\n", 3)
	for _, test := range []struct {
		name, path, text string
		want             []call.QuotaWindow
	}{
		{"last report", "sessions/2026/11/25/rollout-1-" + chaintest.AnID + ".jsonl", rollout(at, 41) + rollout(at, 42) + later, want(42)},
		{"day of an earlier year", "sessions/2024/02/01/rollout-1-" + chaintest.AnID + ".jsonl", rollout(at, 7), want(7)},
		{"truncated line", "sessions/2026/11/25/rollout-1-" + chaintest.AnID + ".jsonl", rollout(at, 7) + rollout(at, 8)[:80], want(7)},
		{"end of a long file", "sessions/2026/11/25/rollout-1-" + chaintest.AnID + ".jsonl", strings.Repeat(strings.Repeat("x", 1000)+"\n", 3000) + rollout(at, 9), want(9)},
		{"file of another session", "sessions/2026/11/25/rollout-1-0199abcd-0000-7000-8000-00000000ffff.jsonl", rollout(at, 41), nil},
		{"another shape", "sessions/2026/11/25/rollout-1-" + chaintest.AnID + ".jsonl", `{"type":"event_msg","payload":[]}` + "\n", nil},
		{"directory in place of the file", "sessions/2026/11/25/rollout-1-" + chaintest.AnID + ".jsonl/x", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			chaintest.FreshState(t)
			home := t.TempDir()
			chaintest.Write(t, home, test.path, test.text)
			t.Setenv("CODEX_HOME", home)
			resp, err := chaintest.Provider(t, specs.Codex(), clichain.Config{}, answers).Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, test.want, resp.Quota)
		})
	}
}

func TestQuotaOfLimit(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	reset := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	limit := fmt.Sprintf(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"five_hour","resetsAt":%d,`+
		`"unifiedWindows":{"seven_day":{"utilization":0.71}}}}`, reset.Unix())
	failed := `{"type":"result","is_error":true,"result":"You've hit your limit","api_error_status":429}`
	p := chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.Init1+"\n"+limit+"\n"+failed+"\n"), clitest.Exit(1)))
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	be := chaintest.RequireReason(t, clichain.ReasonUsageLimit, err)
	require.Len(t, be.Quota, 2)
	for i, want := range []call.QuotaWindow{
		{Name: "five_hour", Used: new(1.0), Length: 5 * time.Hour, ResetsAt: reset},
		{Name: "seven_day", Used: new(0.71), Length: 7 * 24 * time.Hour},
	} {
		require.WithinDuration(t, time.Now(), be.Quota[i].ObservedAt, time.Minute)
		be.Quota[i].ObservedAt = time.Time{}
		require.Equal(t, want, be.Quota[i])
	}
	require.True(t, be.RetryAfter.Equal(reset))
}
