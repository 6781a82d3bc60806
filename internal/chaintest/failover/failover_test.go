package failover_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/testtime"
	"github.com/clichain/clichain/specs"
)

// stuck is a CLI that prints something and then retries for ever.
func stuck(says clitest.Step) clitest.Scenario {
	return chaintest.Play(chaintest.ReadStdin, says, clitest.Step{Hang: true})
}

// If another backend can answer, an event about the CLI's own retries ends its run.
func TestEarlyFailover(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	text := blockLine("half an answer") + "\n"
	patience := clichain.Config{RetryPatience: 300 * time.Millisecond, Timeout: time.Minute}
	for name, test := range map[string]struct {
		spec   clichain.CliSpec
		says   clitest.Step
		reason clichain.Reason
		least  time.Duration
	}{
		"claude, 429":             {specs.Claude(), chaintest.Stdout(chaintest.Retry429), clichain.ReasonRateLimited, 0},
		"claude, 401":             {specs.Claude(), chaintest.Stdout(chaintest.RetryLine(401, "authentication_failed")), clichain.ReasonUnauthenticated, 0},
		"claude, overloaded":      {specs.Claude(), chaintest.Stdout(chaintest.Retry529), clichain.ReasonOverloaded, patience.RetryPatience},
		"claude, no status":       {specs.Claude(), chaintest.Stdout(`{"type":"system","subtype":"api_retry","attempt":1}` + "\n"), clichain.ReasonServerError, patience.RetryPatience},
		"claude, its plan":        {specs.Claude(), chaintest.Stdout(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1}}` + "\n"), clichain.ReasonUsageLimit, 0},
		"claude, after some text": {specs.Claude(), chaintest.Stdout(text + chaintest.Retry429), clichain.ReasonRateLimited, 0},
		"codex, 429":              {specs.Codex(), chaintest.Stdout(`{"type":"error","message":"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)"}` + "\n"), clichain.ReasonRateLimited, 0},
		"gemini, 429":             {specs.Gemini(), clitest.Step{Stderr: "Attempt 1 failed with status 429. Retrying with backoff...\n"}, clichain.ReasonRateLimited, 0},
		"gemini, 500":             {specs.Gemini(), clitest.Step{Stderr: "Attempt 1 failed with status 500. Retrying with backoff...\n"}, clichain.ReasonServerError, patience.RetryPatience},
		"opencode, 500":           {specs.OpenCode(), clitest.Step{Stderr: `level=ERROR message="stream error" error.error="AI_APICallError: Internal server error"` + "\n"}, clichain.ReasonServerError, patience.RetryPatience},
		"opencode, limit":         {specs.OpenCode(), clitest.Step{Stderr: `level=ERROR message="stream error" error.error="AI_APICallError: Rate limit reached"` + "\n"}, clichain.ReasonRateLimited, 0},
		"an error, no end":        {specs.Claude(), chaintest.Stdout(`{"type":"assistant","error":"authentication_failed","message":{"content":[]}}` + "\n"), clichain.ReasonUnauthenticated, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clichain.ChainOf([]clichain.Backend{
				chaintest.Provider(t, test.spec, patience, stuck(test.says)),
				chaintest.Provider(t, chaintest.Named(specs.Codex(), "next"), patience, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("here")))),
			}, nil)
			resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
			require.NoError(t, err)
			require.Equal(t, "here", resp.Text)
			require.Len(t, resp.Attempts, 1, "no second try of a CLI that retries by itself")
			first := resp.Attempts[0]
			require.Equal(t, test.reason, first.Reason, "%v", first.Err)
			require.GreaterOrEqual(t, first.Duration, test.least)
			testtime.Took(t, first.Duration, 20*time.Second)
			require.NotErrorIs(t, first.Err, clichain.ErrTimeout)
		})
	}
}

// If no other backend can answer, a CLI keeps its full time.
func TestTheLastBackendKeepsItsTime(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	limited := func(t *testing.T, cfg clichain.Config) clichain.Backend {
		return chaintest.Provider(t, specs.Claude(), cfg, stuck(chaintest.Stdout(chaintest.Retry429)))
	}
	schema := clichain.Prompt("hi")
	schema.Options.MaxTurns = 1 // which codex cannot honor
	for name, test := range map[string]struct {
		chain func(t *testing.T, short clichain.Config) []clichain.Backend
		req   clichain.Request
		ended bool // by the timeout of the first backend
	}{
		"alone": {func(t *testing.T, short clichain.Config) []clichain.Backend {
			return []clichain.Backend{limited(t, short)}
		}, clichain.Prompt("hi"), true},
		"the next is not installed": {func(t *testing.T, short clichain.Config) []clichain.Backend {
			none := clichain.NewProvider(specs.Gemini(), &clichain.Config{Binary: "/nonexistent/gemini"})
			return []clichain.Backend{limited(t, short), none}
		}, clichain.Prompt("hi"), true},
		"the next cannot honour the request": {func(t *testing.T, short clichain.Config) []clichain.Backend {
			healthy := chaintest.Provider(t, specs.Codex(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("here"))))
			return []clichain.Backend{limited(t, short), healthy}
		}, schema, true},
		"told to be patient": {func(t *testing.T, patient clichain.Config) []clichain.Backend {
			patient.RetryPatience = -1
			return []clichain.Backend{limited(t, patient), chaintest.Failing("b", clichain.ReasonEmpty)}
		}, clichain.Prompt("hi"), true},
		"last of a chain in a chain": {func(t *testing.T, _ clichain.Config) []clichain.Backend {
			inner := clichain.ChainOf([]clichain.Backend{limited(t, clichain.Config{Timeout: time.Minute})}, nil)
			return []clichain.Backend{inner, chaintest.Failing("b", clichain.ReasonEmpty)}
		}, clichain.Prompt("hi"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chaintest.InTime(t, 4*time.Second, func(timeout time.Duration) bool {
				chain := clichain.ChainOf(test.chain(t, clichain.Config{Timeout: timeout}), nil)
				_, err := chain.Complete(t.Context(), test.req)
				require.Equal(t, test.ended, errors.Is(err, clichain.ErrTimeout), "%v", err)
				return errors.Is(err, clichain.ErrRateLimited)
			})
		})
	}
}

// A CLI that recovers from an overload in time is not interrupted.
func TestOverloadThatPasses(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	c := clichain.ChainOf([]clichain.Backend{
		chaintest.Provider(t, specs.Claude(), clichain.Config{RetryPatience: 500 * time.Millisecond, Timeout: time.Minute}, chaintest.Play(chaintest.ReadStdin,
			chaintest.Stdout(chaintest.Retry529+blockLine("late")+"\n"), clitest.Step{Sleep: time.Second}, chaintest.Stdout(chaintest.ResultLine("late")+"\n"))),
		chaintest.Failing("b", clichain.ReasonEmpty),
	}, nil)
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "late", resp.Text)
}

// A run that may have had side effects is not interrupted, because the chain would end there.
func TestNoFailoverAfterWhatCannotBeUndone(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	write := clichain.Prompt("hi")
	write.Access = clichain.AccessWrite
	for name, test := range map[string]struct {
		event string
		ask   func(*clichain.Chain, context.Context) error
	}{
		"tool with write access": {chaintest.ToolUse, func(c *clichain.Chain, ctx context.Context) error {
			_, err := c.Complete(ctx, write)
			return err
		}},
		"text already delivered": {blockLine("half"), func(c *clichain.Chain, ctx context.Context) error {
			_, err := call.Collect(c.Stream(ctx, clichain.Prompt("hi")))
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chaintest.InTime(t, 3*time.Second, func(timeout time.Duration) bool {
				first := chaintest.Provider(t, specs.Claude(), clichain.Config{Timeout: timeout}, stuck(chaintest.Stdout(test.event+"\n"+chaintest.Retry429)))
				next := &chaintest.Backend{ID: "next"}
				err := test.ask(clichain.ChainOf([]clichain.Backend{first, next}, nil), t.Context())
				return next.Asked == 0 && errors.Is(err, clichain.ErrTimeout)
			})
		})
	}
}

// blockLine returns a whole block of claude's text.
func blockLine(text string) string {
	return `{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}`
}
