package cooldown_test

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// The next backend starts while a CLI ends that the chain has left early. It does not if the request may change
// something, if text was delivered, or if the cost of the first must be known first.
func TestNextBackendStartsWhileTheFirstEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		access clichain.Access
		stream bool
		cost   float64
		want   bool
	}{
		"no access":     {want: true},
		"write access":  {access: clichain.AccessWrite},
		"as a stream":   {stream: true},
		"a cost limit":  {cost: 5},
		"reading files": {access: clichain.AccessRead},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clitest.NoLeaks(t)
			var ended atomic.Bool
			overlapped := false
			next := clichain.BackendFunc("next", func(context.Context, clichain.Request) (*clichain.Response, error) {
				overlapped = !ended.Load()
				return &clichain.Response{Text: "here"}, nil
			})
			c := clichain.ChainOf([]clichain.Backend{chaintest.Provider(t, specs.Claude(), clichain.Config{Timeout: time.Minute}, chaintest.SlowToEnd()), next}, &clichain.ChainConfig{
				MaxCostUSD: test.cost, Hooks: &clichain.Hooks{AttemptEnd: func(_ context.Context, a clichain.Attempt) { ended.Store(a.Backend == "claude" || ended.Load()) }},
			})
			req := clichain.Prompt("hi")
			if req.Access = test.access; test.access != clichain.AccessNone {
				req.Dir = t.TempDir()
			}
			var resp *clichain.Response
			var err error
			if test.stream {
				for e, failure := range c.Stream(t.Context(), req) {
					resp, err = e.Response, failure
				}
			} else {
				resp, err = c.Complete(t.Context(), req)
			}
			require.NoError(t, err)
			require.Equal(t, "here", resp.Text)
			require.Len(t, resp.Attempts, 1)
			require.Equal(t, clichain.ReasonRateLimited, resp.Attempts[0].Reason)
			require.Equal(t, test.want, overlapped)
		})
	}
}

// A half-open backend gets its probe in its turn, and nothing before that.
func TestNextBackendInDoubtWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	var ended atomic.Bool
	var early []bool
	next := clichain.BackendFunc("next", func(context.Context, clichain.Request) (*clichain.Response, error) {
		early = append(early, !ended.Load())
		return &clichain.Response{Text: "here"}, nil
	})
	store := cooldown.NewMemory()
	require.NoError(t, store.Update(t.Context(), chaintest.CooldownKey(next, ""), func(cooldown.State) cooldown.State {
		return cooldown.State{Reason: clichain.ReasonExit, Failures: 3, Requests: "0123456789abcdef", At: time.Now()}
	}))
	c := clichain.ChainOf([]clichain.Backend{chaintest.Provider(t, specs.Claude(), clichain.Config{Timeout: time.Minute}, chaintest.SlowToEnd()), next}, &clichain.ChainConfig{
		Store: store, Hooks: &clichain.Hooks{AttemptEnd: func(_ context.Context, a clichain.Attempt) { ended.Store(a.Backend == "claude" || ended.Load()) }},
	})
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "here", resp.Text)
	require.Equal(t, []bool{false, false}, early, "the probe, and the request")
}

// A chain of CLIs at their limits lists each attempt in order, and leaves no process.
func TestSuccessorsThatFailAreListedInOrder(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	cfg := clichain.Config{Timeout: time.Minute}
	c := clichain.ChainOf([]clichain.Backend{
		chaintest.Provider(t, chaintest.Named(specs.Claude(), "one"), cfg, chaintest.SlowToEnd()),
		chaintest.Provider(t, chaintest.Named(specs.Claude(), "two"), cfg, chaintest.SlowToEnd()),
		chaintest.Provider(t, chaintest.Named(specs.Claude(), "three"), cfg, chaintest.SlowToEnd()),
		chaintest.Provider(t, specs.Codex(), cfg, chaintest.Play(chaintest.ReadStdin, chaintest.Stdout(chaintest.CodexAnswer("here")))),
	}, nil)
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "here", resp.Text)
	require.Len(t, resp.Attempts, 3)
	for i, name := range []string{"one", "two", "three"} {
		require.Equal(t, name, resp.Attempts[i].Backend)
		require.Equal(t, clichain.ReasonRateLimited, resp.Attempts[i].Reason, "%v", resp.Attempts[i].Err)
	}
}

// If the call ends while a successor runs, the successor ends too, and its attempt is listed.
func TestSuccessorEndsWithTheCall(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	started := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	next := clichain.BackendFunc("next", func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
		close(started)
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	c := clichain.ChainOf([]clichain.Backend{chaintest.Provider(t, specs.Claude(), clichain.Config{Timeout: time.Minute}, chaintest.SlowToEnd()), next}, nil)
	_, err := c.Complete(ctx, clichain.Prompt("hi"))
	require.ErrorIs(t, err, context.Canceled)
	<-started
}

// A successor's panic reaches the caller after the first backend has ended.
func TestSuccessorPanics(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	next := clichain.BackendFunc("next", func(context.Context, clichain.Request) (*clichain.Response, error) { panic("mine") })
	c := clichain.ChainOf([]clichain.Backend{chaintest.Provider(t, specs.Claude(), clichain.Config{Timeout: time.Minute}, chaintest.SlowToEnd()), next}, nil)
	require.PanicsWithValue(t, "mine", func() { _, _ = c.Complete(t.Context(), clichain.Prompt("hi")) })
}

// If a CLI answers after all, its answer counts. Its successor is ended, and listed with its usage.
func TestLateAnswerEndsTheSuccessor(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	began := make(chan struct{})
	next := clichain.BackendFunc("next", func(ctx context.Context, _ clichain.Request) (*clichain.Response, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	wait := t.TempDir() + "/go"
	go func() {
		<-began
		_ = os.WriteFile(wait, nil, 0o600)
	}()
	late := chaintest.Play(chaintest.ReadStdin, clitest.Step{Ignore: []string{"INT", "TERM"}}, chaintest.Stdout(chaintest.Retry429), clitest.Step{Await: wait}, chaintest.Stdout(chaintest.ResultLine("42")+"\n"))
	c := clichain.ChainOf([]clichain.Backend{chaintest.Provider(t, specs.Claude(), clichain.Config{Timeout: time.Minute}, late), next}, nil)
	resp, err := c.Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
	require.Equal(t, "42", resp.Text)
	require.Len(t, resp.Attempts, 1)
	require.Equal(t, "next", resp.Attempts[0].Backend)
	require.Equal(t, clichain.ReasonCanceled, resp.Attempts[0].Reason)
}
