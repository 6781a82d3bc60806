package reserve_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// appServer plays codex's app-server, which prints one line in response to the request for the usage windows.
func appServer(record, response string) clitest.Scenario {
	line := clitest.Step{ReadLine: true}
	return clitest.Scenario{Cases: []clitest.Case{{Args: []string{"app-server"}, Steps: []clitest.Step{
		line, chaintest.Stdout(`{"id":1,"result":{"userAgent":"codex"}}` + "\n"), line, line, chaintest.Stdout(response + "\n"), {Record: record},
	}}}}
}

func TestAskQuota(t *testing.T) {
	t.Parallel()
	reset := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	for name, test := range map[string]struct {
		response string
		want     []call.QuotaWindow
		failure  string
	}{
		"plan": {
			`{"id":2,"result":{"rateLimits":{"limitId":"codex","primary":{"usedPercent":42,"windowDurationMins":300,"resetsAt":` +
				seconds(reset) + `},"secondary":{"usedPercent":7,"windowDurationMins":10080,"resetsAt":null},"planType":"pro"}}}`,
			[]call.QuotaWindow{
				{Name: "primary", Used: new(0.42), Length: 5 * time.Hour, ResetsAt: reset},
				{Name: "secondary", Used: new(0.07), Length: 7 * 24 * time.Hour},
			}, "",
		},
		"another shape": {`{"id":2,"result":{"rateLimits":[1,2]}}`, nil, ""},
		"no windows":    {`{"id":2,"result":{"rateLimits":{"primary":null}}}`, nil, ""},
		"no plan":       {`{"id":2,"error":{"code":-32600,"message":"chatgpt authentication required"}}`, nil, "chatgpt authentication required"},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.NoLeaks(t)
			p := chaintest.Provider(t, specs.Codex(), clichain.Config{}, appServer(t.TempDir(), test.response))
			windows, err := p.AskQuota(t.Context())
			if test.failure != "" {
				require.ErrorContains(t, err, test.failure)
				return
			}
			require.NoError(t, err)
			for i := range windows {
				require.WithinDuration(t, time.Now(), windows[i].ObservedAt, time.Minute)
				windows[i].ObservedAt = time.Time{}
			}
			require.Equal(t, test.want, windows)
		})
	}
}

// A CLI without a question is not started.
func TestAskQuotaOfOtherCLI(t *testing.T) {
	t.Parallel()
	record := t.TempDir()
	windows, err := chaintest.Provider(t, specs.Claude(), clichain.Config{}, chaintest.Play(clitest.Step{Record: record})).AskQuota(t.Context())
	require.NoError(t, err)
	require.Empty(t, windows)
	records, err := fake.ReadRecords(record)
	require.NoError(t, err)
	require.Empty(t, records)
}

func seconds(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// The chain stores the report under the account of the backend, so that other chains with the store know it.
func TestChainAskQuota(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	const report = `{"id":2,"result":{"rateLimits":{"primary":{"usedPercent":42,"windowDurationMins":300,"resetsAt":null}}}}`
	store := cooldown.NewMemory()
	p := chaintest.Provider(t, specs.Codex(), clichain.Config{Account: "team"}, appServer(t.TempDir(), report))
	chain := clichain.ChainOf([]clichain.Backend{p}, &clichain.ChainConfig{Store: store})
	require.Empty(t, chain.Quota(t.Context(), p))
	windows, err := chain.AskQuota(t.Context(), p)
	require.NoError(t, err)
	require.Len(t, windows, 1)
	other := clichain.ChainOf([]clichain.Backend{p}, &clichain.ChainConfig{Store: store})
	require.Equal(t, windows, other.Quota(t.Context(), p))
	quotas, err := store.Quotas(t.Context())
	require.NoError(t, err)
	require.Len(t, quotas, 1)
	for _, q := range quotas {
		require.Equal(t, cooldown.Quota{Account: "team", Backends: []string{"codex"}, Windows: windows}, q)
	}
	windows, err = chain.AskQuota(t.Context(), &chaintest.Backend{ID: "b"})
	require.NoError(t, err)
	require.Empty(t, windows)
	require.Empty(t, chain.Quota(t.Context(), &chaintest.Backend{ID: "b"}))
}
