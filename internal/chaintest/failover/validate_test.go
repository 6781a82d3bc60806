package failover_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// requireMistake asserts a configuration mistake in that field.
func requireMistake(t *testing.T, option string, err error) {
	t.Helper()
	require.Equal(t, option, chaintest.RequireReason(t, clichain.ReasonBadOption, err).Option, "%v", err)
}

func aliased(alias, model string) clichain.Config {
	return clichain.Config{ModelAliases: map[string]string{alias: model, "good": "m-1"}}
}

// An alias that already has a meaning would have no effect.
func TestAliasOfABackend(t *testing.T) {
	t.Parallel()
	for _, alias := range []string{"codex", "openai-cli", "codex-default", "codex-work"} {
		cfg := aliased(alias, "m")
		cfg.Name = "codex-work"
		require.NoError(t, cfg.Validate(), "known only with the spec")
		if alias == "codex" { // another backend's name is no alias of this one
			require.NoError(t, clichain.NewProvider(specs.Codex(), &cfg).Validate())
			cfg.Name = ""
		}
		requireMistake(t, "config.model_aliases", clichain.NewProvider(specs.Codex(), &cfg).Validate())
	}
	cfg := aliased("fast", "m")
	require.NoError(t, clichain.NewProvider(specs.Codex(), &cfg).Validate())
}

func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg    clichain.Config
		option string
	}{
		"output":         {clichain.Config{Output: "xml"}, "config.output"},
		"transport":      {clichain.Config{Transport: "pigeon"}, "config.transport"},
		"sandbox":        {clichain.Config{Sandbox: "yes"}, "config.sandbox"},
		"billing":        {clichain.Config{Billing: "free"}, "config.billing"},
		"first output":   {clichain.Config{FirstOutputTimeout: -1}, "config.first_output_timeout"},
		"idle":           {clichain.Config{IdleTimeout: -1}, "config.idle_timeout"},
		"queue":          {clichain.Config{MaxQueue: -1}, "config.max_queue"},
		"bytes":          {clichain.Config{MaxOutput: -1}, "config.max_output"},
		"parallel":       {clichain.Config{MaxParallel: -1}, "config.max_parallel"},
		"slots of zero":  {clichain.Config{Slots: make(chan struct{})}, "config.slots"},
		"env":            {clichain.Config{Env: []string{"A=b", "ALL_IN_ONE"}}, "config.env[1]"},
		"env, no name":   {clichain.Config{Env: []string{"=b"}}, "config.env[0]"},
		"passed":         {clichain.Config{PassEnv: []string{"A=b"}}, "config.pass_env[0]"},
		"alias, empty":   {aliased("", "m"), "config.model_aliases"},
		"alias, blank":   {aliased(" ", "m"), "config.model_aliases"},
		"alias, default": {aliased("default", "m"), "config.model_aliases"},
		"alias, unknown": {aliased("unknown", "m"), "config.model_aliases"},
		"alias, blanks":  {aliased("fast ", "m"), "config.model_aliases"},
		"alias of none":  {aliased("fast", ""), "config.model_aliases"},
		"container":      {clichain.Config{Container: &clichain.Container{}}, "container"},
	} {
		t.Run(name, func(t *testing.T) {
			requireMistake(t, test.option, test.cfg.Validate())
			requireMistake(t, test.option, clichain.ChainConfig{Config: test.cfg}.Validate())
			p := clichain.NewProvider(specs.Codex(), &test.cfg)
			requireMistake(t, test.option, p.Validate())
			requireMistake(t, test.option, p.Available(t.Context()))
			_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
			requireMistake(t, test.option, err)
			requireMistake(t, test.option, p.Status("").Err)
		})
	}
	require.NoError(t, clichain.Config{}.Validate())
	require.NoError(t, clichain.Config{
		Output: "json", Transport: "argv", Sandbox: "off", Billing: "api_key", Timeout: -1, RetryPatience: -1,
		Slots: make(chan struct{}, 1), Env: []string{"A="}, PassEnv: []string{"X_*"},
	}.Validate())
	several := clichain.Config{Output: "xml", Env: []string{"secret"}, MaxOutput: -1}.Validate()
	require.ErrorContains(t, several, "config.output")
	require.ErrorContains(t, several, "config.max_output")
	require.NotContains(t, several.Error(), "secret", "what is in Env may be one")
}

func TestChainConfigMistakes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg    clichain.ChainConfig
		option string
	}{
		"min attempt": {clichain.ChainConfig{MinAttempt: -1}, "min_attempt"},
		"cost":        {clichain.ChainConfig{MaxCostUSD: math.NaN()}, "max_cost_usd"},
		"replay":      {clichain.ChainConfig{Replay: "alwys"}, "replay"},
		"reason":      {clichain.ChainConfig{Policy: map[clichain.Reason]clichain.Rule{"tired": {}}}, "policy.tired"},
		"cooldown": {clichain.ChainConfig{Policy: map[clichain.Reason]clichain.Rule{
			clichain.ReasonExit: {Cooldown: cooldown.Rule{Base: -time.Second}},
		}}, "policy.exit"},
	} {
		t.Run(name, func(t *testing.T) {
			requireMistake(t, test.option, test.cfg.Validate())
			b := &chaintest.Backend{ID: "a"}
			c := clichain.ChainOf([]clichain.Backend{b}, &test.cfg)
			requireMistake(t, test.option, c.Validate())
			requireMistake(t, test.option, c.Ready(t.Context()))
			_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			requireMistake(t, test.option, err)
			require.Zero(t, b.Asked)
		})
	}
	require.NoError(t, clichain.ChainConfig{Replay: "never", Budget: time.Second}.Validate())
}

// Two backends of one name are a configuration mistake, because models, sessions and attempts would be ambiguous.
func TestNamesInAChainDiffer(t *testing.T) {
	t.Parallel()
	a, b, again := &chaintest.Backend{ID: "a"}, &chaintest.Backend{ID: "b"}, &chaintest.Backend{ID: "a"}
	c := clichain.ChainOf([]clichain.Backend{a, b, again}, nil)
	_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	for _, err := range []error{err, c.Validate(), c.Ready(t.Context())} {
		requireMistake(t, "backends[2]", err)
		require.ErrorContains(t, err, `has the name "a" of backends[0]`)
	}
	require.Zero(t, a.Asked)
	require.ErrorIs(t, clichain.NewChain([]clichain.CliSpec{specs.Codex(), specs.Codex()}, nil).Validate(), clichain.ErrBadOption)
	require.NoError(t, chaintest.Nest(chaintest.Nest(a), chaintest.Nest(again), b).Validate(), "chains without a name are told apart by what is in them")

	for _, wrong := range []clichain.Backend{nil, (*clichain.Provider)(nil), (*clichain.Chain)(nil), &chaintest.Backend{}} {
		_, err = clichain.ChainOf([]clichain.Backend{wrong, b}, nil).Complete(t.Context(), clichain.Prompt("hi"))
		requireMistake(t, "backends[0]", err)
	}
}

// Every method reports a broken spec, and other backends still work.
func TestABrokenSpecStopsNobodyElse(t *testing.T) {
	t.Parallel()
	broken := clichain.NewProvider(clichain.CliSpec{Name: "mistyped"}, nil)
	misset := clichain.NewProvider(specs.Codex(), &clichain.Config{Sandbox: "yes"})
	refused := clichain.ChainOf([]clichain.Backend{&chaintest.Backend{ID: "x"}}, &clichain.ChainConfig{Name: "refused", Replay: "alwys"})
	good := &chaintest.Backend{ID: "good"}
	for name, test := range map[string]struct {
		backends []clichain.Backend
		attempts int
		named    []string
	}{
		"first":         {[]clichain.Backend{broken, good}, 1, []string{"mistyped"}},
		"last":          {[]clichain.Backend{good, broken}, 0, []string{"mistyped"}},
		"several":       {[]clichain.Backend{misset, good, broken}, 1, []string{"mistyped", "codex: bad_option (config.sandbox)"}},
		"a chain":       {[]clichain.Backend{refused, good}, 1, []string{"refused: bad_option (replay)"}},
		"in a chain":    {[]clichain.Backend{chaintest.Nest(broken, misset), good}, 1, []string{"mistyped", "codex"}},
		"beside a good": {[]clichain.Backend{chaintest.Nest(broken, good)}, 1, []string{"mistyped"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := chaintest.Nest(test.backends...)
			resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, "from good", resp.Text)
			require.Len(t, resp.Attempts, test.attempts)
			require.Len(t, resp.Warnings, len(test.named))
			for _, want := range test.named {
				require.Contains(t, strings.Join(resp.Warnings, "\n"), want)
				require.ErrorContains(t, c.Validate(), want)
			}
			ready := c.Ready(t.Context())
			require.ErrorIs(t, ready, clichain.ErrBadOption)
			require.ErrorContains(t, ready, "the others would be tried")
		})
	}
	t.Run("other backends work", func(t *testing.T) {
		_, err := chaintest.Nest(chaintest.Failing("a", clichain.ReasonRateLimited), broken).Complete(t.Context(), clichain.Prompt("hi"))
		var chain *clichain.ChainError
		require.ErrorAs(t, err, &chain)
		require.Equal(t, clichain.ReasonRateLimited, chain.Reason(), "what was tried says more")
		require.ErrorContains(t, err, "mistyped")
	})
	t.Run("a mistake in the request still ends a chain", func(t *testing.T) {
		good.Asked = 0
		_, err := chaintest.Nest(chaintest.Nest(broken, chaintest.Failing("a", clichain.ReasonBadRequest)), good).Complete(t.Context(), clichain.Prompt("hi"))
		require.ErrorIs(t, err, clichain.ErrBadRequest)
		require.Zero(t, good.Asked)
	})
}
