package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// A trace context must not disturb a CLI, and no CLI sends it to the vendor.
func TestTraceContextOfCall(t *testing.T) {
	const trace = "0af7651916cd43dd8448eb211c80319c"
	eachCLI(t, func(t *testing.T, name string) {
		longUnless(t, isFirst(name))
		t.Parallel()
		c := start(t, name, home.LoggedIn, clichain.Config{Timeout: minute}, loopback.Always(loopback.Text(hello)))
		resp, err := c.Complete(call.WithTrace(t.Context(), "00-"+trace+"-b7ad6b7169203331-01", "vendor=1"), clichain.Prompt("say hi"))
		require.NoError(t, err)
		require.Equal(t, hello, resp.Text)
		for _, q := range c.server.Requests() {
			require.Empty(t, q.Header.Get("Traceparent"), q.Path)
			require.NotContains(t, string(q.Body), trace)
		}
	})
}
