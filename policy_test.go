package clichain_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/resettime"
)

// restsAfter returns the cooldowns after each of ten consecutive failures of different requests. The chain asks the
// backend again as soon as a cooldown ends. probed: from the first cooldown on, probes failed and not requests.
func restsAfter(t *testing.T, cfg clichain.ChainConfig, reason clichain.Reason) (rests []time.Duration, probed bool) {
	synctest.Test(t, func(t *testing.T) {
		a := failing("a", reason)
		c := onClock(clichain.ChainOf([]clichain.Backend{a}, &cfg), 0.5, nil)
		for n := range 10 {
			_, err := c.Complete(t.Context(), clichain.Prompt(fmt.Sprint("hi ", n)))
			require.Equal(t, n+1, a.asked)
			until := coolingUntil(t, c, a)
			probed = !until.IsZero() && errors.Is(err, clichain.ErrCoolingDown)
			if !probed {
				requireReason(t, reason, err)
			}
			if until.IsZero() {
				rests = append(rests, 0)
				continue
			}
			rests = append(rests, time.Until(until))
			time.Sleep(time.Until(until) - time.Nanosecond)
			_, err = c.Complete(t.Context(), clichain.Prompt(fmt.Sprint("hello ", n)))
			be := requireReason(t, clichain.ReasonCoolingDown, err)
			require.True(t, until.Equal(be.RetryAfter))
			require.Equal(t, n+1, a.asked, "it rests to the end")
			time.Sleep(time.Nanosecond)
		}
	})
	return rests, probed
}

// restText formats a series of cooldowns as in docs/reference/errors.md.
func restText(rests []time.Duration, probed bool) string {
	first := 0
	for first < len(rests) && rests[first] == 0 {
		first++
	}
	if first == len(rests) {
		return "–"
	}
	text := minutes(rests[first])
	if last := rests[len(rests)-1]; last != rests[first] {
		text += " to " + minutes(last)
	}
	switch {
	case probed:
		text = fmt.Sprintf("after %d and a probe: %s", first, text)
	case first > 0:
		text = fmt.Sprintf("after %d: %s", first+1, text)
	}
	return text
}

func minutes(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%g s", d.Seconds())
}

// Every row of the decision table has its cooldown.
func TestRests(t *testing.T) {
	none := []string{
		"suppressed", "not_installed", "unsupported", "model_mismatch", "cooling_down", "reserved", "budget_spent",
		"bad_model", "context_overflow", "bad_request", "bad_option", "bad_session", "spawn", "canceled", "unconfined",
		"rejected",
	}
	want := map[string][]clichain.Reason{
		"10 min":                             {"unauthenticated", "untrusted_dir", "permission_refused", "nested_session"},
		"30 s to 10 min":                     {"rate_limited"},
		"5 min to 1 h":                       {"usage_limit"},
		"1 h":                                {"billing"},
		"30 s to 5 min":                      {"overloaded", "server_error", "network"},
		"after 3 and a probe: 30 s to 5 min": {"timeout", "idle_timeout", "first_output_timeout", "bad_output", "empty", "exit", "killed", "output_limit"},
	}
	for _, reason := range none {
		want["–"] = append(want["–"], clichain.Reason(reason))
	}
	seen := 0
	for text, reasons := range want {
		for _, reason := range reasons {
			seen++
			t.Run(string(reason), func(t *testing.T) {
				require.Equal(t, text, restText(restsAfter(t, clichain.ChainConfig{}, reason)))
			})
		}
	}
	require.Len(t, call.Reasons(), seen)
}

// Cooldowns double up to the maximum.
func TestRestsDouble(t *testing.T) {
	s := time.Second
	rests, _ := restsAfter(t, clichain.ChainConfig{}, clichain.ReasonOverloaded)
	require.Equal(t, []time.Duration{30 * s, 60 * s, 120 * s, 240 * s, 300 * s, 300 * s, 300 * s, 300 * s, 300 * s, 300 * s}, rests)
	rests, probed := restsAfter(t, clichain.ChainConfig{}, clichain.ReasonTimeout)
	require.Equal(t, []time.Duration{0, 0, 0, 30 * s, 60 * s, 120 * s, 240 * s, 300 * s, 300 * s, 300 * s}, rests)
	require.True(t, probed)
}

// ChainConfig.Policy changes only the given rows.
func TestPolicy(t *testing.T) {
	cfg := clichain.ChainConfig{Policy: map[clichain.Reason]clichain.Rule{
		clichain.ReasonBilling:    {Cooldown: cooldown.Rule{Base: 7 * time.Second, After: 2}},
		clichain.ReasonTimeout:    {Stop: true},
		clichain.ReasonBadRequest: {},
	}}
	require.Equal(t, "after 2: 7 s", restText(restsAfter(t, cfg, clichain.ReasonBilling)))
	require.Equal(t, "–", restText(restsAfter(t, cfg, clichain.ReasonTimeout)))
	require.Equal(t, "5 min to 1 h", restText(restsAfter(t, cfg, clichain.ReasonUsageLimit)))
	for reason, goesOn := range map[clichain.Reason]bool{clichain.ReasonTimeout: false, clichain.ReasonBadRequest: true, clichain.ReasonBadOption: false, clichain.ReasonExit: true} {
		next := &backend{name: "next"}
		_, err := clichain.ChainOf([]clichain.Backend{failing("a", reason), next}, &cfg).Complete(t.Context(), clichain.Prompt("hi"))
		require.Equal(t, goesOn, err == nil, reason)
		require.Equal(t, goesOn, next.asked == 1, reason)
	}
}

func TestPolicyThatIsNonsense(t *testing.T) {
	rest := func(r cooldown.Rule) clichain.Rule { return clichain.Rule{Cooldown: r} }
	for _, test := range []struct {
		name   string
		reason clichain.Reason
		rule   clichain.Rule
		want   string
	}{
		{"unknown reason", "tired", clichain.Rule{}, "unknown reason"},
		{"rest after a skip", clichain.ReasonSuppressed, rest(cooldown.Rule{Base: time.Second}), "was not started"},
		{"after the caller left", clichain.ReasonCanceled, clichain.Rule{}, "cannot continue"},
		{"negative", clichain.ReasonExit, rest(cooldown.Rule{Base: -1}), "negative"},
		{"longer than any plan's window", clichain.ReasonExit, rest(cooldown.Rule{Base: resettime.Longest + 1}), "at most"},
		{"base above cap", clichain.ReasonExit, rest(cooldown.Rule{Base: 2, Cap: 1}), "above its cap"},
		{"scope", clichain.ReasonExit, rest(cooldown.Rule{Base: 1, Scope: "moon"}), `no scope "moon"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := &backend{name: "b"}
			cfg := &clichain.ChainConfig{Policy: map[clichain.Reason]clichain.Rule{test.reason: test.rule}}
			_, err := clichain.ChainOf([]clichain.Backend{b}, cfg).Complete(t.Context(), clichain.Prompt("hi"))
			be := requireReason(t, clichain.ReasonBadOption, err)
			require.Equal(t, "policy."+string(test.reason), be.Option)
			require.Contains(t, be.Message, test.want)
			require.Zero(t, b.asked)
		})
	}
}

func TestEveryReasonHasARow(t *testing.T) {
	require.ElementsMatch(t, call.Reasons(), policyReasons())
}
