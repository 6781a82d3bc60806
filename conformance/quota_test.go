package conformance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/specs"
)

// used are the shares of the plan that the server reports, in percent.
type used struct{ short, week int }

// resets returns the times at which the server's windows end.
func resets() (short, week time.Time) {
	now := time.Now().Truncate(time.Second)
	return now.Add(2 * time.Hour), now.Add(80 * time.Hour)
}

// claudeWindows adds the headers of a plan to a reply, as Anthropic's service sends them.
func claudeWindows(r loopback.Reply, status string, u used) loopback.Reply {
	short, week := resets()
	for name, value := range map[string]any{
		"status": status, "representative-claim": "five_hour", "reset": short.Unix(), "overage-status": "rejected",
		"5h-status": status, "5h-utilization": float64(u.short) / 100, "5h-reset": short.Unix(),
		"7d-status": "allowed", "7d-utilization": float64(u.week) / 100, "7d-reset": week.Unix(),
	} {
		r = r.With("anthropic-ratelimit-unified-"+name, fmt.Sprint(value))
	}
	return r
}

// codexWindows does the same for OpenAI's service.
func codexWindows(r loopback.Reply, u used) loopback.Reply {
	short, week := resets()
	for name, value := range map[string]any{
		"primary-used-percent": u.short, "primary-window-minutes": 300, "primary-reset-at": short.Unix(),
		"secondary-used-percent": u.week, "secondary-window-minutes": 10080, "secondary-reset-at": week.Unix(),
	} {
		r = r.With("x-codex-"+name, fmt.Sprint(value))
	}
	return r
}

// requireWindows compares two windows with those that the server reported a moment ago.
func requireWindows(t *testing.T, names [2]string, u used, got []call.QuotaWindow) {
	t.Helper()
	require.Len(t, got, 2, "%+v", got)
	short, week := resets()
	for i, want := range []struct {
		used   int
		length time.Duration
		reset  time.Time
	}{{u.short, 5 * time.Hour, short}, {u.week, 7 * 24 * time.Hour, week}} {
		require.Equal(t, names[i], got[i].Name)
		require.NotNil(t, got[i].Used, names[i])
		require.InDelta(t, float64(want.used)/100, *got[i].Used, 1e-9)
		require.Equal(t, want.length, got[i].Length)
		require.WithinDuration(t, want.reset, got[i].ResetsAt, 2*time.Minute)
		require.WithinDuration(t, time.Now(), got[i].ObservedAt, 2*time.Minute)
	}
}

// eachPlan runs a test for the versions of a CLI.
func eachPlan(t *testing.T, name string, test func(t *testing.T, of home.Install, newest bool)) {
	newest := true
	for _, of := range home.Installs() {
		if of.CLI != name {
			continue
		}
		first := newest
		newest = false
		t.Run(of.Wanted(t), func(t *testing.T) {
			netns.Require(t)
			of.Binary(t) // skips the test if the version is missing
			test(t, of, first)
		})
	}
}

var claudeNames, codexNames = [2]string{"five_hour", "seven_day"}, [2]string{"primary", "secondary"}

// claude reports the windows of its plan after an answer, after a limit, and in each turn of a live session. In a call,
// the version of half a year ago reports only the reset of one window. In a session, it tells the rest on request.
func TestUsageWindowsOfClaude(t *testing.T) {
	eachPlan(t, home.Claude, func(t *testing.T, of home.Install, newest bool) {
		spec, _ := specs.ByName(home.Claude)
		c := startOf(t, of, spec, home.Subscribed, longTimeout, loopback.InOrder(
			claudeWindows(loopback.Text(hello), "allowed", used{42, 71}),
			claudeWindows(loopback.Error(429, "rate_limit_error", "This request would exceed your account's rate limit."), "rejected", used{100, 72}),
			claudeWindows(loopback.Text(hello), "allowed", used{1, 73}),
			claudeWindows(loopback.Text(hello), "allowed", used{2, 74}),
		))
		resp, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
		require.NoError(t, err)
		_, err = c.Complete(t.Context(), clichain.Prompt("say hi"))
		var be *clichain.BackendError
		require.ErrorAs(t, err, &be)
		require.Equal(t, clichain.ReasonUsageLimit, be.Reason)
		if newest {
			requireWindows(t, claudeNames, used{42, 71}, resp.Quota)
			requireWindows(t, claudeNames, used{100, 72}, be.Quota)
		} else {
			require.Nil(t, resp.Quota[0].Used)
			require.Equal(t, "five_hour", resp.Quota[0].Name)
			require.EqualValues(t, 1, *be.Quota[0].Used)
		}

		s := live.New(c.Provider, nil)
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		for i := range 2 {
			resp, err := s.Ask(t.Context(), "say hi")
			require.NoError(t, err)
			requireWindows(t, claudeNames, used{1 + i, 73 + i}, resp.Quota)
		}
	})
}

// codex reports the windows of its plan in each turn of a live session. For a call they are in the file of the session,
// also if a later call continues the session.
func TestUsageWindowsOfCodex(t *testing.T) {
	eachPlan(t, home.Codex, func(t *testing.T, of home.Install, _ bool) {
		spec, _ := specs.ByName(home.Codex)
		c := startOf(t, of, spec, home.LoggedIn, longTimeout, func(q loopback.Request) loopback.Reply {
			return codexWindows(loopback.Text(hello), used{40 + q.N, 70 + q.N})
		})
		resp, err := c.Complete(t.Context(), c.question("say hi"))
		require.NoError(t, err)
		requireWindows(t, codexNames, used{41, 71}, resp.Quota)

		req := c.question("and again")
		req.Session = resp.Session
		resp, err = c.Complete(t.Context(), req)
		require.NoError(t, err)
		requireWindows(t, codexNames, used{42, 72}, resp.Quota)

		req = c.question("without a file")
		req.Options.NoSessionPersistence = true
		resp, err = c.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Empty(t, resp.Quota)

		s := live.New(c.Provider, &live.Config{Request: clichain.Request{Model: models[home.Codex]}})
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		for i := range 2 {
			resp, err := s.Ask(t.Context(), "say hi")
			require.NoError(t, err)
			requireWindows(t, codexNames, used{44 + i, 74 + i}, resp.Quota)
		}
	})
}
