package live_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/live"
)

// usages is the number of requests for usage windows that a fake agent has received.
var usages int

// usage answers a request for usage windows. The share is the number of the request in tenths. An agent with the manner
// "mute" or "no windows" does not answer the first request.
func (a *agent) usage(id any) {
	usages++
	switch first := usages == 1; {
	case first && a.has("mute"):
	case first && a.has("no windows"):
		a.fail(id, "unknown request")
	case a.has("changed"):
		a.reply(id, object{"windows": []any{7, "x"}})
	default:
		a.reply(id, object{"windows": object{"five_hour": object{"used": 0.1 * float64(usages)}, "credits": nil}})
	}
}

// usageSpec is agentSpec with usage windows.
func usageSpec(dialect string) clichain.CliSpec {
	spec := agentSpec(dialect)
	rule := clispec.EventRule{
		Match: map[string]string{"method": "usage", "@.value.used": ".+"}, Each: "result.windows|@members", Kind: clichain.EventLimit,
		Set: map[string]string{"window": "@.key", "window_used": "@.value.used"},
	}
	spec.Live.Usage = []clispec.LiveMessage{{Method: "usage"}}
	spec.Events = append(spec.Events, rule)
	if len(spec.Live.Events) > 0 {
		spec.Live.Events = append(spec.Live.Events, rule)
	}
	return spec
}

// setUsageTime sets the wait for an answer until the end of the test. No other test may run at the same time.
func setUsageTime(t *testing.T, wait time.Duration) {
	before := held.UsageTime
	held.UsageTime = wait
	t.Cleanup(func() { held.UsageTime = before })
}

// shares are the used shares of the only window after each of three turns; a negative one means unknown.
type shares [3]float64

func TestUsageWindowsOfTurns(t *testing.T) {
	setUsageTime(t, time.Minute)
	for _, test := range []struct {
		name, manners string
		change        func(*clichain.CliSpec)
		want          shares
	}{
		{"answer after each turn", "", nil, shares{0.1, 0.2, 0.3}},
		{"refusal", "no windows", nil, shares{-1, -1, -1}},
		{"another shape", "changed", nil, shares{-1, -1, -1}},
		{"windows of other plans", "", func(s *clichain.CliSpec) { s.Quota.Windows = []clispec.WindowRow{{Name: "week"}} }, shares{-1, -1, -1}},
		{"account with an API key", "", func(s *clichain.CliSpec) {
			s.Login.Ways = []clispec.LoginWay{{Env: []string{"PATH"}, Billing: call.BillingAPIKey}}
		}, shares{-1, -1, -1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			atOnce(t, func(t *testing.T, dialect string) {
				spec := usageSpec(dialect)
				if test.change != nil {
					test.change(&spec)
				}
				s := live.New(agentWith(t, spec, dialect, test.manners, patient), nil)
				t.Cleanup(s.Kill)
				require.NoError(t, s.Start(t.Context()))
				for _, share := range test.want {
					resp, err := s.Ask(t.Context(), "recall it")
					require.NoError(t, err)
					requireShare(t, share, resp.Quota)
				}
			})
		})
	}
}

// A CLI that does not answer delays only one turn, and is not asked again.
func TestUsageWindowsWithoutAnswer(t *testing.T) {
	setUsageTime(t, 10*time.Millisecond)
	clitest.NoLeaks(t)
	each(t, func(t *testing.T, dialect string) {
		s := live.New(agentWith(t, usageSpec(dialect), dialect, "mute", patient), nil)
		t.Cleanup(s.Kill)
		require.NoError(t, s.Start(t.Context()))
		for range 3 {
			resp, err := s.Ask(t.Context(), "recall it")
			require.NoError(t, err)
			require.Empty(t, resp.Quota)
		}
	})
}

func requireShare(t *testing.T, share float64, got []call.QuotaWindow) {
	t.Helper()
	if share < 0 {
		require.Empty(t, got)
		return
	}
	require.Len(t, got, 1)
	require.Equal(t, "five_hour", got[0].Name)
	require.InDelta(t, share, *got[0].Used, 1e-9)
	require.WithinDuration(t, time.Now(), got[0].ObservedAt, time.Minute)
}

// A turn that reports its windows needs no request. The event has them too.
func TestReportedUsageWindows(t *testing.T) {
	each(t, func(t *testing.T, dialect string) {
		spec := usageSpec(dialect)
		method, params := "method", "params."
		if dialect == "control" {
			method, params = "type", ""
		}
		report := clispec.EventRule{
			Match: map[string]string{method: "delta"}, Kind: clichain.EventLimit,
			Set: map[string]string{"window": "=five_hour", "window_used": params + "none ?? =0.7"},
		}
		spec.Events = append(spec.Events, report)
		if len(spec.Live.Events) > 0 {
			spec.Live.Events = append(spec.Live.Events, report)
		}
		p := live.NewPool([]*clichain.Provider{agentWith(t, spec, dialect, "", patient)}, &live.PoolConfig{Wait: time.Minute})
		t.Cleanup(func() { require.Empty(t, p.Close().Left) })
		var reported []call.QuotaWindow
		for e, err := range p.Backends()[0].Stream(t.Context(), clichain.Prompt("recall it")) {
			require.NoError(t, err)
			switch e.Kind {
			case clichain.EventLimit:
				reported = e.Quota
			case clichain.EventDone:
				requireShare(t, 0.7, e.Response.Quota)
			}
		}
		requireShare(t, 0.7, reported)
	})
}
