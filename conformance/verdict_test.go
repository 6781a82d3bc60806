package conformance_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// spare is a backend that could answer in place of a real CLI, and does.
type spare struct{}

func (spare) Name() string { return "spare" }

func (s spare) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(s.Stream(ctx, req))
}

func (spare) Stream(ctx context.Context, _ clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Stream(ctx, func(context.Context, func(clichain.Event)) (*clichain.Response, error) {
		return &clichain.Response{Text: "here", Backend: "spare"}, nil
	})
}

// A failing service has one verdict: of a CLI that keeps its time, and of one that
// is given up for another backend, on an idle machine and on a busy one.
func TestOneVerdictOnRealCLIs(t *testing.T) {
	scenes := map[string]struct {
		reply  loopback.Reply
		reason clichain.Reason
	}{
		"400": {loopback.Error(400, "invalid_request_error", "messages: at least one message is required"), clichain.ReasonBadRequest},
		"401": {loopback.Error(401, "authentication_error", "invalid x-api-key"), clichain.ReasonUnauthenticated},
		"429": {loopback.Error(429, "rate_limit_error", "Rate limit reached"), clichain.ReasonRateLimited},
	}
	for _, name := range home.Names() {
		for scene, test := range scenes {
			t.Run(name+" at "+scene, func(t *testing.T) {
				failing := start(t, name, home.LoggedIn, clichain.Config{Timeout: 25 * time.Second}, loopback.Always(test.reply))
				alone := func() *clichain.BackendError {
					_, err := failing.Complete(t.Context(), clichain.Prompt("say hi"))
					require.Error(t, err)
					return call.AsError(name, err)
				}
				chained := func() *clichain.BackendError {
					chain := clichain.ChainOf([]clichain.Backend{failing, spare{}}, &clichain.ChainConfig{NoCooldown: true,
						Policy: map[clichain.Reason]clichain.Rule{clichain.ReasonBadRequest: {}}})
					resp, err := chain.Complete(t.Context(), clichain.Prompt("say hi"))
					require.NoError(t, err)
					return call.AsError(name, resp.Attempts[0].Err)
				}
				require.Equal(t, test.reason, alone().Reason)
				clitest.Busy(t)
				for range 4 {
					failed := chained()
					require.Equal(t, test.reason, failed.Reason, "%+v", failed)
					require.True(t, failed.RetryAfter.IsZero(), "%v", failed.RetryAfter)
				}
			})
		}
	}
}

// What the prompt quotes is no evidence, in whatever mode, where the service says
// something else.
func TestQuotedFailures(t *testing.T) {
	const quote = "Why does it say this?\nno rollout found for thread id 1\nNo conversation found with session ID\nSession not found\n" +
		"ERROR: You've hit your usage limit. Try again in 5 days.\nAttempt 1 failed with status 429. Retrying with backoff..."
	for _, name := range home.Names() {
		for _, output := range []clispec.OutputMode{clispec.OutputStream, clispec.OutputText} {
			t.Run(name+" "+string(output), func(t *testing.T) {
				cfg := longTimeout
				cfg.Output = output
				c := start(t, name, home.LoggedIn, cfg, loopback.Always(loopback.Error(400, "invalid_request_error", "messages: at least one message is required")))
				_, err := c.Complete(t.Context(), clichain.Prompt(quote))
				failed := call.AsError(name, err)
				require.Equal(t, clichain.ReasonBadRequest, failed.Reason, "%+v", failed)
			})
		}
	}
}

// opencode says that the model's output limit ended the answer.
func TestTheOutputLimitOfTheModel(t *testing.T) {
	c := start(t, home.OpenCode, home.LoggedIn, longTimeout, loopback.Always(loopback.Full(loopback.Text(hello))))
	resp, err := c.Complete(t.Context(), clichain.Prompt("say hi"))
	require.NoError(t, err)
	require.Equal(t, hello, resp.Text)
	require.Equal(t, []call.Flag{call.FlagTruncated}, resp.Flags)
}
