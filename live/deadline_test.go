package live_test

import (
	"context"
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/runs"
)

var times = flag.Int("times", 1, "how often each case of TestPoolCallHasOneTimeout runs, eight in parallel")

// callTime is the timeout of a call in TestPoolCallHasOneTimeout.
const callTime = 2 * time.Second

// A call has one Config.Timeout, whatever its process and the cold call after it do. A Provider without a pool,
// whose CLI hangs and ends at the first signal, shows how much time the machine adds.
func TestPoolCallHasOneTimeout(t *testing.T) {
	clitest.NoLeaks(t)
	for name, test := range map[string]struct {
		manners, first, text string
		wait                 time.Duration
	}{
		"a turn hangs":                           {manners: "deaf", text: "deaf", wait: time.Minute},
		"a turn ends when it is interrupted":     {text: "hang", wait: time.Minute},
		"a start takes long, the turn hangs":     {manners: "starts in 1200ms", text: "hang", wait: time.Minute},
		"a turn fails late, the cold call hangs": {manners: "cold hangs", text: "spend 1600ms", wait: time.Minute},
		"a start hangs, the cold call hangs":     {manners: "silent, cold hangs", text: "x", wait: callTime / 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slowest, alone := time.Hour, time.Second
			// A second timeout would make every attempt slow. A busy machine gets more attempts.
			for attempt := 0; attempt < 5 && slowest >= alone*3/2; attempt++ {
				slowest, alone = poolAndPlainCalls(t, test.manners, test.text, test.wait)
				t.Logf("%v, %v without a pool", slowest, alone)
			}
			require.Less(t, slowest, alone*3/2)
		})
	}
}

// poolAndPlainCalls returns the longest time of calls of a pool, and the time of a call without a pool. The calls run at
// the same time, on the same busy machine. All of them must end with a timeout.
func poolAndPlainCalls(t *testing.T, manners, text string, wait time.Duration) (slowest, alone time.Duration) {
	t.Helper()
	cfg := clichain.Config{Timeout: callTime}
	plain := agentOf(t, "acp", "cold hangs", cfg)
	var running sync.WaitGroup
	var failed error
	running.Go(func() {
		began := time.Now()
		_, failed = plain.Complete(t.Context(), clichain.Prompt("x"))
		alone = time.Since(began)
	})
	took := make([]time.Duration, *times)
	free := make(chan struct{}, 8)
	for i := range took {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			p := live.NewPool([]*clichain.Provider{agentOf(t, "acp", manners, cfg)}, &live.PoolConfig{Wait: wait})
			began := time.Now()
			_, err := p.Backends()[0].Complete(t.Context(), clichain.Prompt(text))
			took[i] = time.Since(began)
			// On a busy machine a turn may fail so late that no time is left for the cold call.
			late := errors.Is(err, clichain.ErrBadOutput) && took[i] >= callTime
			if !errors.Is(err, context.DeadlineExceeded) && !late {
				t.Errorf("%v after %v", err, took[i])
			}
			if left := p.Close().Left; len(left) > 0 {
				t.Error(left)
			}
		})
	}
	running.Wait()
	requireReason(t, clichain.ReasonTimeout, failed)
	return slices.Max(took), alone
}

// A call returns at once when its caller cancels, without waiting for its process, and the process does not
// outlive the pool.
func canceledCallReturnsAtOnce(t *testing.T, dialect string) {
	cfg, note := patient, filepath.Join(t.TempDir(), "interrupted")
	cfg.Env = []string{"AGENT_NOTE=" + note}
	p := live.NewPool([]*clichain.Provider{agentOf(t, dialect, "deaf", cfg)}, &live.PoolConfig{Wait: time.Minute})
	t.Cleanup(func() { p.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var began time.Time
	for e, err := range p.Backends()[0].Stream(ctx, clichain.Prompt("deaf")) {
		if e.Kind == clichain.EventDelta {
			began = time.Now()
			cancel()
		}
		if err != nil {
			be := requireReason(t, clichain.ReasonCanceled, err)
			require.Equal(t, "still ", be.Partial)
		}
	}
	took := time.Since(began)
	began = time.Now()
	require.Equal(t, 0, p.Stats().Processes, "the process is not used again")
	require.Empty(t, p.Close().Left)
	require.FileExists(t, note)
	require.Less(t, took, time.Since(began)/2, "the caller does not wait for the end of the process")
}

// A call whose context ends while it waits, or which the registry ends, does not go cold and keeps no process.
func TestPoolCanceledWaitDoesNotGoCold(t *testing.T) {
	t.Parallel()
	var registry runs.Registry
	cfg := patient
	cfg.Registry = &registry
	p, b := pooled(t, "acp", coldAgent, cfg, &live.PoolConfig{Size: 1})
	busy, leave := context.WithCancel(t.Context())
	defer leave()
	for e := range b.Stream(busy, clichain.Prompt("hang")) {
		if e.Kind != clichain.EventDelta {
			continue
		}
		for name, end := range map[string]func(cancel func()){
			"context":  func(cancel func()) { cancel() },
			"registry": func(func()) { registry.KillAll("waits") },
		} {
			ctx, cancel := context.WithCancel(runs.WithKey(t.Context(), "waits", ""))
			failed := make(chan error, 1)
			go func() {
				_, err := b.Complete(ctx, clichain.Prompt("say x"))
				failed <- err
			}()
			require.Eventually(t, func() bool { return registry.HasActive("waits") }, time.Minute, time.Millisecond)
			end(cancel)
			requireReason(t, clichain.ReasonCanceled, <-failed)
			require.Equal(t, live.Stats{Processes: 1, Busy: 1, Started: 1}, p.Stats(), name)
			cancel()
		}
		leave()
	}
	require.Zero(t, p.Stats().Cold)
}

func programOf(b clichain.Backend) string {
	return b.(interface{ Config() clichain.Config }).Config().Binary
}

// A process that becomes ready after the pool has dropped it or has closed is killed.
func TestPoolKillsProcessThatIsReadyTooLate(t *testing.T) {
	t.Parallel()
	p, b := pooled(t, "acp", "", patient, nil)
	live.StartGivenUp(t.Context(), p, clichain.Prompt("say x"))
	require.Empty(t, clitest.Survivors(programOf(b)))
	require.Zero(t, p.Stats().Processes)
}
