package reserve_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/order"
	"github.com/clichain/clichain/quota"
	"github.com/clichain/clichain/specs"
)

// storeWith returns a store that knows the used shares of windows of the account of a backend.
func storeWith(t *testing.T, b clichain.Backend, used map[string]float64) *cooldown.Memory {
	t.Helper()
	store, now := cooldown.NewMemory(), time.Now()
	key, _ := chaintest.AccountKey(b)
	require.NoError(t, store.UpdateQuota(t.Context(), key, func(q cooldown.Quota) cooldown.Quota {
		for name, share := range used {
			q.Windows = append(q.Windows, call.QuotaWindow{
				Name: name, Used: &share, Length: 7 * 24 * time.Hour, ResetsAt: now.Add(time.Hour), ObservedAt: now,
			})
		}
		return q
	}))
	return store
}

// A full window of some models reserves the backend only for calls that may use one of them.
func TestReserveIgnoresWindowsOfOtherModels(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, full string
		use        string // Config.Model
		req        clichain.Request
		reserved   bool
	}{
		{"model of the window", "seven_day_opus", "", clichain.Request{Model: "opus"}, true},
		{"full name of the model", "seven_day_opus", "", clichain.Request{Model: "claude/us.anthropic.claude-opus-4-6[1m]"}, true},
		{"other model", "seven_day_opus", "", clichain.Request{Model: "sonnet"}, false},
		{"default model of the CLI", "seven_day_opus", "", clichain.Request{}, true},
		{"model of the settings", "seven_day_opus", "haiku", clichain.Request{}, false},
		{"mode with two models", "seven_day_sonnet", "", clichain.Request{Model: "opusplan"}, true},
		{"fallback model", "seven_day_sonnet", "", clichain.Request{
			Model: "opus", Options: clichain.Options{FallbackModel: "sonnet"},
		}, true},
		{"model of neither", "seven_day_sonnet", "", clichain.Request{
			Model: "opus", Options: clichain.Options{FallbackModel: "haiku"},
		}, false},
		{"allowance of one model", "seven_day_overage_included", "", clichain.Request{Model: "claude-fable-5"}, true},
		{"allowance of another model", "seven_day_overage_included", "", clichain.Request{Model: "sonnet"}, false},
		{"window of all models", "seven_day", "", clichain.Request{Model: "sonnet"}, true},
		{"window without a row for its models", "seven_day_later", "", clichain.Request{Model: "sonnet"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			claude := chaintest.Provider(t, specs.Claude(), clichain.Config{Model: test.use}, chaintest.Play(chaintest.ReadStdin))
			c := clichain.ChainOf([]clichain.Backend{claude}, &clichain.ChainConfig{
				Store:   storeWith(t, claude, map[string]float64{"five_hour": 0.1, test.full: 1}),
				Reserve: quota.Reserve{Share: 0.3},
			})
			test.req.Messages = clichain.Prompt("hi").Messages
			err := c.Check(t.Context(), claude, test.req)
			if !test.reserved {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, clichain.ErrReserved)
			require.Len(t, c.Quota(t.Context(), claude), 2, "all windows of the account")
		})
	}
}

// A strategy sees only the windows that the request may use.
func TestOrderIgnoresWindowsOfOtherModels(t *testing.T) {
	t.Parallel()
	spec := clispec.Spec{Name: "lumen", Binary: "lumen", Events: specs.Claude().Events, Quota: clispec.QuotaRules{
		Windows: []clispec.WindowRow{{Name: "week_large", Models: `large-\d`}, {Name: "week"}},
	}}
	lumen := chaintest.Provider(t, spec, clichain.Config{}, chaintest.Play(chaintest.ReadStdin))
	for model, want := range map[string][]string{"": {"week", "week_large"}, "large-2": {"week", "week_large"}, "small": {"week"}} {
		var got []string
		c := clichain.ChainOf([]clichain.Backend{lumen}, &clichain.ChainConfig{
			Store: storeWith(t, lumen, map[string]float64{"week": 0.1, "week_large": 1}),
			Order: func(_ clichain.Request, list []order.Candidate) []order.Candidate {
				for _, w := range list[0].Quota() {
					got = append(got, w.Name)
				}
				return nil
			},
		})
		req := clichain.Prompt("hi")
		req.Model = model
		_, err := c.Complete(t.Context(), req)
		require.Error(t, err)
		require.ElementsMatch(t, want, got, "model %q", model)
	}
}
