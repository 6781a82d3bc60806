package conformance_test

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

var beside = flag.Bool("beside", false, "also measure chains that wait for the timeout")

// The first CLI meets a failing service and reports it only when it retries. The second CLI must answer within the
// start times of both and one second. An overloaded service adds the wait for its retries.
func TestEarlyFailover(t *testing.T) {
	limit := loopback.Error(429, "rate_limit_error", "Rate limit reached")
	broken := loopback.Error(500, "api_error", "Internal server error")
	const retryWait = 3 * time.Second
	for label, test := range map[string]struct {
		name, next string
		reply      loopback.Reply
		reason     clichain.Reason
		retryWait  time.Duration
	}{
		"claude at 429":   {home.Claude, home.Codex, limit, clichain.ReasonRateLimited, 0},
		"claude at 401":   {home.Claude, home.Codex, loopback.Error(401, "authentication_error", "invalid x-api-key"), clichain.ReasonUnauthenticated, 0},
		"codex at 429":    {home.Codex, home.Claude, limit, clichain.ReasonRateLimited, 0},
		"gemini at 429":   {home.Gemini, home.Codex, limit, clichain.ReasonRateLimited, 0},
		"gemini at 500":   {home.Gemini, home.Codex, broken, clichain.ReasonServerError, retryWait},
		"opencode at 500": {home.OpenCode, home.Claude, broken, clichain.ReasonServerError, retryWait},
		"pi at 429":       {home.Pi, home.Claude, limit, clichain.ReasonRateLimited, 2 * time.Second}, // pi retries twice before it reports the failure
		"kilo at 401":     {home.Kilo, home.Claude, loopback.Error(401, "authentication_error", "invalid x-api-key"), clichain.ReasonUnauthenticated, 0},
	} {
		t.Run(label, func(t *testing.T) {
			longUnless(t, test.retryWait == 0 && test.name != home.Kilo)
			good := loopback.Always(loopback.Text(hello))
			next := start(t, test.next, home.LoggedIn, longTimeout, good)
			startUps := took(t, start(t, test.name, home.LoggedIn, longTimeout, good)) + took(t, next)
			chained := func(cfg clichain.Config, chain ...*clichain.ChainConfig) (time.Duration, *clichain.Response) {
				failing := start(t, test.name, home.LoggedIn, cfg, loopback.Always(test.reply))
				begin := time.Now()
				resp, err := clichain.ChainOf([]clichain.Backend{failing, next}, append(chain, nil)[0]).Complete(t.Context(), clichain.Prompt("say hi"))
				require.NoError(t, err)
				require.Equal(t, test.next, resp.Backend)
				return time.Since(begin), resp
			}
			early, resp := chained(clichain.Config{})
			for range 2 { // on a busy machine a CLI may start late
				if early < startUps+test.retryWait+time.Second {
					break
				}
				t.Logf("%.2f s, retrying", early.Seconds())
				early, resp = chained(clichain.Config{})
			}
			require.Len(t, resp.Attempts, 1)
			require.Equal(t, test.reason, resp.Attempts[0].Reason, "%+v", resp.Attempts[0].Err.(*clichain.BackendError))
			t.Logf("both start-ups %.2f s, the chain %.2f s", startUps.Seconds(), early.Seconds())
			require.Less(t, early, startUps+test.retryWait+time.Second)
			if *beside {
				plain, _ := chained(clichain.Config{RetryPatience: -1})
				t.Logf("without early failover %.2f s", plain.Seconds())
				for range 5 { // with a cost limit the second CLI starts after the first one ended
					serial, _ := chained(clichain.Config{}, &clichain.ChainConfig{MaxCostUSD: 1000})
					overlapping, _ := chained(clichain.Config{})
					t.Logf("sequential %.2f s, overlapping %.2f s", serial.Seconds(), overlapping.Seconds())
				}
				require.Less(t, early, plain)
			}
		})
	}
}

// took returns the duration of a healthy call.
func took(t *testing.T, c cli) time.Duration {
	t.Helper()
	begin := time.Now()
	_, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
	require.NoError(t, err)
	return time.Since(begin)
}
