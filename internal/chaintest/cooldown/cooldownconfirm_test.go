package cooldown_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chaintest"
)

// picky fails for requests that contain "bad", and for all others while it is broken. It recognizes probes by their
// prompt, which no test sends.
type picky struct {
	name   string
	reason clichain.Reason
	said   string        // the text of an answer
	takes  time.Duration // the duration of a probe
	broken atomic.Bool
	asked  atomic.Int32 // calls by requests of callers
	probed atomic.Int32
}

func (p *picky) Name() string { return p.name }

func (p *picky) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	text := req.Messages[len(req.Messages)-1].Content
	probe := !strings.HasPrefix(text, "bad") && !strings.HasPrefix(text, "good")
	usage := call.Usage{InputTokens: 1}
	if probe {
		p.probed.Add(1)
		usage.InputTokens = 7
		select {
		case <-time.After(p.takes):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	} else {
		p.asked.Add(1)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if strings.HasPrefix(text, "bad") || p.broken.Load() {
		return nil, &clichain.BackendError{Backend: p.name, Reason: p.reason, Usage: usage}
	}
	said := p.said
	if said == "" {
		said = "from " + p.name
	}
	return &clichain.Response{Text: said, Backend: p.name, Usage: usage}, nil
}

func (p *picky) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return clichain.BackendFunc(p.name, p.Complete).Stream(ctx, req)
}

func (p *picky) chain(cfg *clichain.ChainConfig) *clichain.Chain {
	return chaintest.OnClock(clichain.ChainOf([]clichain.Backend{p}, cfg), 0.5, nil)
}

// askOf makes a call and returns the reason of its failure.
func askOf(t *testing.T, c *clichain.Chain, text string) clichain.Reason {
	t.Helper()
	_, err := c.Complete(t.Context(), clichain.Prompt(text))
	if err == nil {
		return ""
	}
	var chain *clichain.ChainError
	require.ErrorAs(t, err, &chain)
	return chain.Reason()
}

// byRequest are the reasons of failures that the request may have caused.
var byRequest = []clichain.Reason{
	clichain.ReasonTimeout, clichain.ReasonIdleTimeout, clichain.ReasonFirstOutputTimeout, clichain.ReasonBadOutput,
	clichain.ReasonEmpty, clichain.ReasonExit, clichain.ReasonKilled, clichain.ReasonOutputLimit,
}

func TestCooldownIgnoresARepeatedRequest(t *testing.T) {
	t.Parallel()
	for _, reason := range byRequest {
		t.Run(string(reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &picky{name: "a", reason: reason}
				c := p.chain(nil)
				for range 10 {
					require.Equal(t, reason, askOf(t, c, "bad"))
				}
				require.NoError(t, c.CoolingDown(t.Context(), p))
				require.Empty(t, askOf(t, c, "good"))
				require.Zero(t, p.probed.Load(), "one request is no reason to probe")
			})
		})
	}
}

func TestCooldownIgnoresAnswersThatMissTheirSchema(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &picky{name: "a", said: "no JSON"}
		c := p.chain(nil)
		for i := range 5 {
			req := clichain.Prompt(fmt.Sprint("good ", i))
			req.Schema = []byte(chaintest.Cities)
			_, err := c.Complete(t.Context(), req)
			require.ErrorIs(t, err, clichain.ErrBadOutput)
		}
		require.NoError(t, c.CoolingDown(t.Context(), p))
		require.Empty(t, askOf(t, c, "good"))
		require.Zero(t, p.probed.Load())
	})
}

func TestCooldownNeedsAFailedProbe(t *testing.T) {
	t.Parallel()
	for _, reason := range byRequest {
		t.Run(string(reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &picky{name: "a", reason: reason}
				c := p.chain(nil)
				for i := range 3 {
					require.Equal(t, reason, askOf(t, c, fmt.Sprint("bad ", i)))
				}
				require.NoError(t, c.CoolingDown(t.Context(), p), "nothing is confirmed")
				require.Zero(t, p.probed.Load(), "the next call probes")
				resp, err := c.Complete(t.Context(), clichain.Prompt("good"))
				require.NoError(t, err)
				require.EqualValues(t, 1, p.probed.Load())
				require.EqualValues(t, 4, p.asked.Load())
				require.Len(t, resp.Attempts, 1, "the probe is no silent charge")
				require.EqualValues(t, 7, resp.Attempts[0].Usage.InputTokens)
				require.ErrorContains(t, resp.Attempts[0].Err, "probe")

				time.Sleep(time.Minute)
				p.broken.Store(true)
				for i := range 3 {
					require.Equal(t, reason, askOf(t, c, fmt.Sprint("good ", i)))
				}
				for _, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
					asked, probed := p.asked.Load(), p.probed.Load()
					require.Equal(t, clichain.ReasonCoolingDown, askOf(t, c, "good"))
					require.Equal(t, want, time.Until(chaintest.CoolingUntil(t, c, p)))
					require.Equal(t, clichain.ReasonCoolingDown, askOf(t, c, "good"))
					require.Equal(t, asked, p.asked.Load(), "no caller's request is spent")
					require.Equal(t, probed+1, p.probed.Load())
					time.Sleep(want)
				}
				p.broken.Store(false)
				require.Empty(t, askOf(t, c, "good"))
			})
		})
	}
}

func TestCooldownReportsTheUsageOfAFailedProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &picky{name: "a", reason: clichain.ReasonExit}
		p.broken.Store(true)
		var begun, ended int
		c := p.chain(&clichain.ChainConfig{Hooks: &clichain.Hooks{
			AttemptStart: func(context.Context, string) { begun++ },
			AttemptEnd:   func(context.Context, clichain.Attempt) { ended++ },
		}})
		for i := range 3 {
			askOf(t, c, fmt.Sprint("good ", i))
		}
		_, err := c.Complete(t.Context(), clichain.Prompt("good"))
		var chain *clichain.ChainError
		require.ErrorAs(t, err, &chain)
		require.EqualValues(t, 7, chain.Usage().InputTokens)
		require.ErrorContains(t, err, "probe")
		require.Equal(t, 30*time.Second, time.Until(chain.RetryAfter()))
		require.False(t, chain.Tried(), "the request was not sent")
		require.Equal(t, 4, begun)
		require.Equal(t, 4, ended)
	})
}

func TestCooldownCountEndsWithASuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &picky{name: "a", reason: clichain.ReasonExit}
		c := p.chain(nil)
		for _, text := range []string{"bad 1", "bad 2", "good", "bad 3", "bad 4", "good", "good"} {
			askOf(t, c, text)
		}
		require.Zero(t, p.probed.Load())
		state, err := chaintest.StoreOf(c).Load(t.Context(), chaintest.CooldownKey(p, ""))
		require.NoError(t, err)
		require.Zero(t, state)
	})
}

// The reason of a failed probe counts, such as a limit.
func TestCooldownAfterAProbeThatMeetsALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &picky{name: "a", reason: clichain.ReasonExit}
		c := p.chain(nil)
		for i := range 3 {
			askOf(t, c, fmt.Sprint("bad ", i))
		}
		p.reason = clichain.ReasonUsageLimit
		p.broken.Store(true)
		require.Equal(t, clichain.ReasonCoolingDown, askOf(t, c, "good"))
		require.Equal(t, 5*time.Minute, time.Until(chaintest.CoolingUntil(t, c, p)))
	})
}
