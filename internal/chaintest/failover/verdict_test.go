package failover_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// A run may report why it cannot continue and exit, while the chain ends it for the same reason. The order depends on the machine, but the verdict does not.
func TestOneVerdictOnABusyMachine(t *testing.T) {
	clitest.Busy(t)
	const resets = 4102444800 // far ahead: the longest possible limit
	limit := fmt.Sprintf(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%d}}`+"\n", resets)
	for name, test := range map[string]struct {
		spec    clichain.CliSpec
		says    string
		reason  clichain.Reason
		limited bool
	}{
		"a limit and a result":   {specs.Claude(), chaintest.Init1 + "\n" + limit + chaintest.FailedLine("You've hit your limit") + "\n", clichain.ReasonUsageLimit, true},
		"a limit and a crash":    {specs.Claude(), chaintest.Init1 + "\n" + limit, clichain.ReasonUsageLimit, true},
		"a refusal and a crash":  {specs.Claude(), chaintest.RetryLine(401, "authentication_failed"), clichain.ReasonUnauthenticated, false},
		"a refusal and a result": {specs.Claude(), chaintest.RetryLine(429, "rate_limit") + chaintest.FailedLine("API Error: 401") + "\n", clichain.ReasonUnauthenticated, false},
		"codex, a crash":         {specs.Codex(), `{"type":"error","message":"Reconnecting... 1/5 (last status: 429 Too Many Requests)"}` + "\n", clichain.ReasonRateLimited, false},
	} {
		t.Run(name, func(t *testing.T) {
			first := chaintest.Provider(t, test.spec, clichain.Config{Timeout: time.Minute}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(test.says), clitest.Exit(1)))
			next := &chaintest.Backend{ID: "next"}
			for range chaintest.Often(8, 3) {
				chain := clichain.ChainOf([]clichain.Backend{first, next}, &clichain.ChainConfig{NoCooldown: true})
				resp, err := chain.Complete(t.Context(), clichain.Prompt("hi"))
				require.NoError(t, err)
				require.Len(t, resp.Attempts, 1)
				failed := resp.Attempts[0].Err.(*clichain.BackendError)
				require.Equal(t, test.reason, failed.Reason, "%+v", failed)
				require.Equal(t, test.limited, failed.RetryAfter.After(time.Now().Add(24*time.Hour)), "%v", failed.RetryAfter)
			}
		})
	}
}
