package doctor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/doctor"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// The report has the window of the account of which the most is used, as a chain has stored it.
func TestDiagnoseWindow(t *testing.T) {
	reset := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	line := clitest.Step{ReadLine: true}
	chaintest.FreshMachine(t, play(line, stdout(`{"id":1,"result":{}}`+"\n"), line, line, stdout(fmt.Sprintf(`{"id":2,"result":{"rateLimits":{`+
		`"secondary":{"usedPercent":20,"windowDurationMins":10080,"resetsAt":%[1]d},`+
		`"primary":{"usedPercent":63,"windowDurationMins":300,"resetsAt":%[1]d}}}}`, reset.Unix())+"\n"), readStdin))
	chaintest.LogIn(t)
	codex := clichain.NewProvider(specs.Codex(), nil)
	cfg := &doctor.Config{Store: cooldown.NewMemory()}
	examine := func() *call.QuotaWindow {
		return doctor.Diagnose(t.Context(), []clichain.Backend{codex}, cfg).Backends[0].Window
	}
	require.Nil(t, examine())
	_, err := clichain.ChainOf([]clichain.Backend{codex}, &clichain.ChainConfig{Store: cfg.Store}).AskQuota(t.Context(), codex)
	require.NoError(t, err)
	w := examine()
	require.NotNil(t, w)
	require.WithinDuration(t, time.Now(), w.ObservedAt, time.Minute)
	w.ObservedAt = time.Time{}
	require.Equal(t, &call.QuotaWindow{Name: "primary", Used: new(0.63), Length: 5 * time.Hour, ResetsAt: reset}, w)
}
