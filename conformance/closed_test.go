package conformance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// The service accepts the token of a Google account, and then refuses the account. The error contains the text of the
// service and a hint. The chain puts gemini into cooldown for a day.
func TestAccountClosedToGemini(t *testing.T) {
	t.Parallel()
	c := start(t, home.Gemini, home.Subscribed, longTimeout, loopback.Always(loopback.Text("never")))
	_, b := warm(t, c, nil)
	for label, backend := range map[string]clichain.Backend{"a call": c, "a live session": b} {
		_, err := backend.Complete(t.Context(), c.question("say hi"))
		var failed *clichain.BackendError
		require.ErrorAs(t, err, &failed, label)
		require.Equal(t, clichain.ReasonUnauthenticated, failed.Reason, "%s: %+v", label, failed)
		require.Contains(t, failed.Message, loopback.Ineligible, label)
		require.NotContains(t, failed.Message, "node:internal", label)
		require.Contains(t, failed.Hint, "`agy`", label)
		require.InDelta(t, 24, time.Until(failed.RetryAfter).Hours(), 0.5, label)
	}
	require.Empty(t, c.server.Calls(), "the CLI called the model")
}
