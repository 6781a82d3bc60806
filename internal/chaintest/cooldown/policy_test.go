package cooldown_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/resettime"
)

// Every row of the decision table has its cooldown.
func TestRests(t *testing.T) {
	t.Parallel()
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
				require.Equal(t, text, chaintest.CooldownText(chaintest.CooldownsAfter(t, clichain.ChainConfig{}, reason)))
			})
		}
	}
	require.Len(t, call.Reasons(), seen)
}

// Cooldowns double up to the maximum.
func TestRestsDouble(t *testing.T) {
	t.Parallel()
	s := time.Second
	rests, _ := chaintest.CooldownsAfter(t, clichain.ChainConfig{}, clichain.ReasonOverloaded)
	require.Equal(t, []time.Duration{30 * s, 60 * s, 120 * s, 240 * s, 300 * s, 300 * s, 300 * s, 300 * s, 300 * s, 300 * s}, rests)
	rests, probed := chaintest.CooldownsAfter(t, clichain.ChainConfig{}, clichain.ReasonTimeout)
	require.Equal(t, []time.Duration{0, 0, 0, 30 * s, 60 * s, 120 * s, 240 * s, 300 * s, 300 * s, 300 * s}, rests)
	require.True(t, probed)
}

// ChainConfig.Policy changes only the given rows.
func TestPolicy(t *testing.T) {
	t.Parallel()
	cfg := clichain.ChainConfig{Policy: map[clichain.Reason]clichain.Rule{
		clichain.ReasonBilling:    {Cooldown: cooldown.Rule{Base: 7 * time.Second, After: 2}},
		clichain.ReasonTimeout:    {Stop: true},
		clichain.ReasonBadRequest: {},
	}}
	require.Equal(t, "after 2: 7 s", chaintest.CooldownText(chaintest.CooldownsAfter(t, cfg, clichain.ReasonBilling)))
	require.Equal(t, "–", chaintest.CooldownText(chaintest.CooldownsAfter(t, cfg, clichain.ReasonTimeout)))
	require.Equal(t, "5 min to 1 h", chaintest.CooldownText(chaintest.CooldownsAfter(t, cfg, clichain.ReasonUsageLimit)))
	for reason, goesOn := range map[clichain.Reason]bool{clichain.ReasonTimeout: false, clichain.ReasonBadRequest: true, clichain.ReasonBadOption: false, clichain.ReasonExit: true} {
		next := &chaintest.Backend{ID: "next"}
		_, err := clichain.ChainOf([]clichain.Backend{chaintest.Failing("a", reason), next}, &cfg).Complete(t.Context(), clichain.Prompt("hi"))
		require.Equal(t, goesOn, err == nil, reason)
		require.Equal(t, goesOn, next.Asked == 1, reason)
	}
}

func TestPolicyThatIsNonsense(t *testing.T) {
	t.Parallel()
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
			b := &chaintest.Backend{ID: "b"}
			cfg := &clichain.ChainConfig{Policy: map[clichain.Reason]clichain.Rule{test.reason: test.rule}}
			_, err := clichain.ChainOf([]clichain.Backend{b}, cfg).Complete(t.Context(), clichain.Prompt("hi"))
			be := chaintest.RequireReason(t, clichain.ReasonBadOption, err)
			require.Equal(t, "policy."+string(test.reason), be.Option)
			require.Contains(t, be.Message, test.want)
			require.Zero(t, b.Asked)
		})
	}
}

func TestEveryReasonHasARow(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, call.Reasons(), chaintest.PolicyReasons())
}
