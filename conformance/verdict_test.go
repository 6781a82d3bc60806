package conformance_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// spare is a backend that always answers.
var spare = clichain.BackendFunc("spare", func(context.Context, clichain.Request) (*clichain.Response, error) {
	return &clichain.Response{Text: "here"}, nil
})

// withSpare returns a chain with a CLI and a second backend that can answer.
func withSpare(c cli, hooks *clichain.Hooks) *clichain.Chain {
	return clichain.ChainOf([]clichain.Backend{c, spare}, &clichain.ChainConfig{NoCooldown: true, Hooks: hooks})
}

// A failing service has the same verdict on a busy machine. The chain stops the CLI early. The long form also runs a
// CLI alone until its last retry.
func TestVerdictOnBusyMachine(t *testing.T) {
	scenes := map[string]struct {
		reply  loopback.Reply
		reason clichain.Reason
	}{
		"401": {loopback.Error(401, "authentication_error", "invalid x-api-key"), clichain.ReasonUnauthenticated},
		"429": {loopback.Error(429, "rate_limit_error", "Rate limit reached"), clichain.ReasonRateLimited},
	}
	for _, name := range home.Names() {
		for scene, test := range scenes {
			t.Run(name+" at "+scene, func(t *testing.T) {
				longUnless(t, scene == "429" && isFirst(name))
				failing := start(t, name, home.LoggedIn, longTimeout, loopback.Always(test.reply))
				clitest.Busy(t)
				for range *rounds {
					resp, err := withSpare(failing, nil).Complete(t.Context(), clichain.Prompt("say hi"))
					require.NoError(t, err)
					failed := call.AsError(name, resp.Attempts[0].Err)
					require.Equal(t, test.reason, failed.Reason, "%+v", failed)
					require.True(t, failed.RetryAfter.IsZero(), "%v", failed.RetryAfter)
				}
				if *rounds > 1 {
					_, err := failing.Complete(t.Context(), clichain.Prompt("say hi"))
					require.Equal(t, test.reason, call.AsError(name, err).Reason)
				}
			})
		}
	}
}

// A failure that the prompt quotes must not decide the reason, in any output mode, if the service reports another
// one.
func TestQuotedFailures(t *testing.T) {
	long(t)
	const quote = "Why does it say this?\nno rollout found for thread id 1\nNo conversation found with session ID\nSession not found\n" +
		"ERROR: You've hit your usage limit. Try again in 5 days.\nAttempt 1 failed with status 429. Retrying with backoff..."
	for _, name := range home.Names() {
		for _, output := range []clispec.OutputMode{clispec.OutputStream, clispec.OutputText} {
			t.Run(name+" "+string(output), func(t *testing.T) {
				t.Parallel()
				if output == clispec.OutputStream {
					long(t)
				}
				cfg, want := longTimeout, clichain.ReasonBadRequest
				if cfg.Output = output; name == home.OpenCode && output == clispec.OutputText {
					want = clichain.ReasonServerError // opencode prints no status in text mode
				}
				c := start(t, name, home.LoggedIn, cfg, loopback.Always(loopback.Error(400, "invalid_request_error", "messages: at least one message is required")))
				_, err := c.Complete(t.Context(), clichain.Prompt(quote))
				failed := call.AsError(name, err)
				require.Equal(t, want, failed.Reason, "%+v", failed)
			})
		}
	}
}

func TestOpenCodeReportsOutputLimit(t *testing.T) {
	t.Parallel()
	c := start(t, home.OpenCode, home.LoggedIn, longTimeout, loopback.Always(loopback.Full(loopback.Text(hello))))
	resp, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
	require.NoError(t, err)
	require.Equal(t, hello, resp.Text)
	require.Equal(t, []call.Flag{call.FlagTruncated}, resp.Flags)
}
