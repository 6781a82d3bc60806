//go:build unix

package billing_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// Output of gemini for the login of an individual account, after the service accepted the token.
const geminiClosed = `Error authenticating: IneligibleTierError: This client is no longer supported for Gemini Code Assist for individuals. Migrate to the Antigravity suite of products.
    at throwIneligibleOrProjectIdError (file:///opt/gemini-cli/bundle/chunk-JDPZ4CE3.js:311090:11)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5) {
  ineligibleTiers: [
    {
      reasonCode: 'UNSUPPORTED_CLIENT',
      tierId: 'free-tier'
    }
  ]
}
An unexpected critical error occurred:IneligibleTierError: This client is no longer supported for Gemini Code Assist for individuals. Migrate to the Antigravity suite of products.
    at throwIneligibleOrProjectIdError (file:///opt/gemini-cli/bundle/chunk-JDPZ4CE3.js:311090:11)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
`

// If the service has closed an account to the CLI, no process that shares the cooldowns tries it for a day, until the
// user logs in with another account.
func TestClosedAccountRestsForADay(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, chaintest.Play(chaintest.ReadStdin, clitest.Step{Stderr: geminiClosed}, clitest.Exit(1)))
	chaintest.Write(t, home, ".gemini/settings.json", geminiPlan)
	chaintest.Write(t, home, ".gemini/oauth_creds.json", `{"access_token":"a1","refresh_token":"r1","expiry_date":4102444800000}`)
	store := filepath.Join(t.TempDir(), "cooldowns.json")
	ask := func() *clichain.BackendError {
		shared := cooldown.NewFile(store, func(err error) { t.Error(err) })
		c := clichain.NewChain([]clichain.CliSpec{specs.Gemini()}, &clichain.ChainConfig{Store: shared})
		_, err := c.Complete(t.Context(), clichain.Prompt("hi"))
		var be *clichain.BackendError
		require.ErrorAs(t, err, &be)
		return be
	}
	be := ask()
	require.Equal(t, clichain.ReasonUnauthenticated, be.Reason)
	require.Equal(t, "This client is no longer supported for Gemini Code Assist for individuals. Migrate to the Antigravity suite of products.", be.Message)
	require.Contains(t, be.Hint, "GEMINI_API_KEY")
	require.Contains(t, be.Hint, "`agy`")
	require.Equal(t, 1, be.ExitCode)

	again := ask()
	require.Equal(t, clichain.ReasonCoolingDown, again.Reason, "a chain of another process")
	require.InDelta(t, 24, time.Until(again.RetryAfter).Hours(), 0.5)

	chaintest.Write(t, home, ".gemini/oauth_creds.json", `{"access_token":"a2","refresh_token":"r1","expiry_date":4102444900000}`)
	require.Equal(t, clichain.ReasonCoolingDown, ask().Reason, "the same login, with its token renewed")

	chaintest.Write(t, home, ".gemini/oauth_creds.json", `{"access_token":"b1","refresh_token":"r2","expiry_date":4102444800000}`)
	require.Equal(t, clichain.ReasonUnauthenticated, ask().Reason, "another login")
	t.Setenv("GEMINI_API_KEY", "x")
	require.Equal(t, clichain.ReasonUnauthenticated, ask().Reason, "a key")
}
