package live_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/runs"
)

// pooled returns a pool of one fake agent, and its backend. Its calls wait for their processes, so that
// measurements on a busy machine decide nothing.
func pooled(t *testing.T, dialect, manners string, cfg clichain.Config, pool *live.PoolConfig) (*live.Pool, clichain.Backend) {
	t.Helper()
	clitest.NoLeaks(t)
	var settings live.PoolConfig
	if pool != nil {
		settings = *pool
	}
	settings.Wait = cmp.Or(settings.Wait, time.Minute)
	p := live.NewPool([]*clichain.Provider{agentOf(t, dialect, manners, cfg)}, &settings)
	t.Cleanup(func() { require.Empty(t, p.Close().Left) })
	return p, p.Backends()[0]
}

// idle waits until the processes of a pool are ready for their next call.
func idle(t *testing.T, b clichain.Backend, p *live.Pool) {
	t.Helper()
	require.Eventually(t, func() bool { return p.Stats().Busy == 0 }, time.Minute, time.Millisecond)
}

// One process answers several calls, each in an empty context.
func TestPoolProcessAnswersCallsInEmptyContexts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		p, b := pooled(t, dialect, "", patient, nil)
		for i := range 4 {
			resp, err := b.Complete(t.Context(), clichain.Prompt(fmt.Sprint("recall ", i)))
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint("recall ", i), resp.Text)
			require.Equal(t, "lumen", resp.Backend)
			idle(t, b, p)
		}
		require.Equal(t, live.Stats{Processes: 1, Started: 1, Warm: 4}, p.Stats())
	})
}

// A call that arrives while the process is being prepared waits for it, because the preparation is short.
func TestPoolCallWaitsForRefresh(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		p, b := pooled(t, dialect, "", patient, &live.PoolConfig{Wait: time.Minute})
		for range 20 {
			_, err := b.Complete(t.Context(), clichain.Prompt("recall"))
			require.NoError(t, err)
		}
		idle(t, b, p)
		require.Equal(t, live.Stats{Processes: 1, Started: 1, Warm: 20}, p.Stats())
	})
}

// A waiting call goes cold if the process has ended, and returns when its context ends.
func TestPoolWaitingCallGoesColdWhenProcessEnds(t *testing.T) {
	t.Parallel()
	p, b := pooled(t, "acp", coldAgent, patient, &live.PoolConfig{Wait: time.Minute, MaxCalls: 1})
	for range 5 {
		_, err := b.Complete(t.Context(), clichain.Prompt("say x"))
		require.NoError(t, err)
	}
	require.Equal(t, 5, p.Stats().Warm+p.Stats().Cold)
}

// Requests that need another process get one, up to the maximum number of processes.
func TestPoolStartsProcessForEachKind(t *testing.T) {
	t.Parallel()
	p, b := pooled(t, "acp", "", patient, &live.PoolConfig{MaxProcesses: 2})
	read := clichain.Prompt("say read")
	read.Access, read.Dir = clichain.AccessRead, t.TempDir()
	model := clichain.Prompt("say model")
	model.Model = "m1"
	for _, req := range []clichain.Request{clichain.Prompt("say none"), read, model, model} {
		resp, err := b.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, strings.TrimPrefix(req.Messages[0].Content, "say "), resp.Text)
		idle(t, b, p)
	}
	require.Equal(t, live.Stats{Processes: 2, Started: 3, Warm: 4}, p.Stats(), "the oldest process was ended")
}

// A request that no process can answer, or for which no process is free, is a cold call.
func TestPoolColdCalls(t *testing.T) {
	p, b := pooled(t, "acp", "", patient, nil)
	resumed := clichain.Prompt("hi")
	resumed.Session = "lumen:1"
	_, err := b.Complete(t.Context(), resumed)
	require.Error(t, err, "the fake knows no cold call")
	writes := clichain.Prompt("hi")
	writes.Access, writes.Dir = clichain.AccessWrite, t.TempDir()
	_, err = b.Complete(t.Context(), writes)
	require.Error(t, err)
	require.Equal(t, live.Stats{Cold: 2}, p.Stats())
	p.Close()
	_, err = b.Complete(t.Context(), clichain.Prompt("say x"))
	require.Error(t, err)
	require.Equal(t, 3, p.Stats().Cold, "a closed pool has no process")

	suppressed := live.NewPool([]*clichain.Provider{agentOf(t, "acp", "", patient)}, nil)
	defer suppressed.Close()
	t.Setenv("SKIP_CLI", "lumen")
	_, err = suppressed.Backends()[0].Complete(t.Context(), clichain.Prompt("say x"))
	require.ErrorIs(t, err, clichain.ErrSuppressed)
	require.Zero(t, suppressed.Stats().Started)
}

// coldAgent is a CLI that also answers cold calls: it prints the text on its stdin.
const coldAgent = "cold"

// A process that dies is replaced, and a cold call answers its call. A failure of the service is returned
// unchanged.
func TestPoolReplacesDeadProcess(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string) {
		_, b := pooled(t, dialect, coldAgent, patient, nil)
		resp, err := b.Complete(t.Context(), clichain.Prompt("cut it"))
		require.NoError(t, err)
		require.Equal(t, "cold: cut it", resp.Text)
		_, err = b.Complete(t.Context(), clichain.Prompt("die now"))
		requireReason(t, clichain.ReasonRateLimited, err)
		_, err = b.Complete(t.Context(), clichain.Prompt("fail 401 invalid api key"))
		requireReason(t, clichain.ReasonUnauthenticated, err)
		resp, err = b.Complete(t.Context(), clichain.Prompt("say warm"))
		require.NoError(t, err)
		require.Equal(t, "warm", resp.Text)
	})
}

// Text that was streamed before the process died is taken back.
func TestPoolColdCallResetsStreamedText(t *testing.T) {
	t.Parallel()
	_, b := pooled(t, "acp", coldAgent, patient, nil)
	for prompt, want := range map[string]int{"halfway x": 1, "cut x": 0} {
		var text string
		var resets int
		for e, err := range b.Stream(t.Context(), clichain.Prompt(prompt)) {
			require.NoError(t, err)
			switch e.Kind {
			case clichain.EventDelta, clichain.EventText:
				text += e.Text
			case clichain.EventReset:
				text = ""
				resets++
			}
		}
		require.Equal(t, "cold: "+prompt, text)
		require.Equal(t, want, resets)
	}
}

// A CLI whose live mode does not start gets cold calls, and the pool stops starting it.
func TestBreaker(t *testing.T) {
	t.Parallel()
	p, b := pooled(t, "acp", coldAgent+", refuses", patient, nil)
	for range 6 {
		resp, err := b.Complete(t.Context(), clichain.Prompt("say x"))
		require.NoError(t, err)
		require.Equal(t, "cold: say x", resp.Text)
	}
	require.Equal(t, live.Stats{Started: 3, Cold: 6}, p.Stats())
	require.Positive(t, live.ColdTime(p, b.Name()), "the cold calls were measured")
}

// An answer resets the count of consecutive failures.
func TestPoolBreakerIsResetByAnswer(t *testing.T) {
	t.Parallel()
	p, b := pooled(t, "acp", coldAgent, patient, nil)
	for range 2 {
		for _, test := range []struct{ text, want string }{
			{"cut x", "cold: cut x"}, {"cut x", "cold: cut x"}, {"say x", "x"},
		} {
			resp, err := b.Complete(t.Context(), clichain.Prompt(test.text))
			require.NoError(t, err)
			require.Equal(t, test.want, resp.Text)
		}
		idle(t, b, p)
	}
	require.Equal(t, 5, p.Stats().Started)
}

// Processes are replaced after the maximum number of calls, at the maximum age, and when the login has changed.
// An idle process is ended.
func TestPoolReplacesProcesses(t *testing.T) {
	t.Parallel()
	ask := func(b clichain.Backend, p *live.Pool, n int) {
		t.Helper()
		for range n {
			_, err := b.Complete(t.Context(), clichain.Prompt("say x"))
			require.NoError(t, err)
			idle(t, b, p)
		}
	}
	t.Run("calls", func(t *testing.T) {
		p, b := pooled(t, "acp", "", patient, &live.PoolConfig{MaxCalls: 3})
		ask(b, p, 7)
		require.Equal(t, 3, p.Stats().Started)
	})
	t.Run("age", func(t *testing.T) {
		p, b := pooled(t, "acp", "", patient, &live.PoolConfig{MaxAge: time.Nanosecond})
		ask(b, p, 2)
		require.Equal(t, 2, p.Stats().Started)
	})
	t.Run("idle", func(t *testing.T) {
		p, b := pooled(t, "acp", "", patient, &live.PoolConfig{IdleTimeout: time.Millisecond})
		ask(b, p, 1)
		require.Eventually(t, func() bool { return p.Stats().Processes == 0 }, time.Minute, time.Millisecond)
	})
	t.Run("login", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "login")
		require.NoError(t, os.WriteFile(file, []byte("1"), 0o600))
		cfg := patient
		cfg.Env = []string{"AGENT_LOGIN=" + file}
		p, b := pooled(t, "acp", "", cfg, nil)
		ask(b, p, 2)
		require.Equal(t, 1, p.Stats().Started)
		require.NoError(t, os.WriteFile(file, []byte("another"), 0o600))
		ask(b, p, 1)
		require.Equal(t, 2, p.Stats().Started)
	})
}

// The settings with which a context began do not affect other calls.
func TestPoolContextSettingsAreSeparate(t *testing.T) {
	t.Parallel()
	clitest.NoLeaks(t)
	cfg := patient
	spec := agentSpec("acp")
	spec.Args = spec.Args[:1] // no model in the arguments
	spec.Live.Opened = []clispec.LiveMessage{{Method: "choose", Params: `{"model":{model:json}}`, When: clispec.When{Set: []string{"model"}}}}
	cfg.Binary = agentOf(t, "acp", "", patient).Config().Binary
	p := live.NewPool([]*clichain.Provider{clichain.NewProvider(spec, &cfg)}, &live.PoolConfig{Wait: time.Minute})
	defer p.Close()
	for _, model := range []string{"a", "b", "a", ""} {
		req := clichain.Prompt("model")
		req.Model = model
		resp, err := p.Backends()[0].Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, "model "+model, resp.Text)
		idle(t, nil, p)
	}
	require.Equal(t, 3, p.Stats().Started)
}

// A registry ends a call by its key, without affecting the calls of others. KillAllKeys also ends the
// processes.
func TestPoolRegistry(t *testing.T) {
	t.Parallel()
	var registry runs.Registry
	cfg := patient
	cfg.Registry = &registry
	p, b := pooled(t, "threads", "", cfg, nil)
	_, err := b.Complete(runs.WithKey(t.Context(), "first", ""), clichain.Prompt("say x"))
	require.NoError(t, err)
	idle(t, b, p)
	require.False(t, registry.HasActive("first"), "the process has no key")
	require.Len(t, registry.Active(), 1)

	started, failed := make(chan struct{}), make(chan error)
	go func() {
		var last error
		for e, err := range b.Stream(runs.WithKey(context.Background(), "second", ""), clichain.Prompt("hang")) {
			if last = err; e.Kind == clichain.EventDelta {
				close(started)
			}
		}
		failed <- last
	}()
	<-started
	registry.KillAll("second")
	require.ErrorIs(t, <-failed, runs.ErrAborted)
	_, err = b.Complete(t.Context(), clichain.Prompt("say y"))
	require.NoError(t, err)
	idle(t, b, p)
	registry.KillAllKeys()
	require.Empty(t, registry.Active())
}
