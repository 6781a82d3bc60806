package hosttools_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/hosttools"
	"github.com/clichain/clichain/live"
	"github.com/stretchr/testify/require"
)

// warm returns a pool whose calls wait for its only process of a kind, and the backend of the pool.
func warm(t *testing.T) (*live.Pool, clichain.Backend) {
	t.Helper()
	pool := live.NewPool([]*clichain.Provider{player(t, "p", clichain.Config{})}, &live.PoolConfig{Size: 1, Wait: time.Minute})
	t.Cleanup(func() { require.Empty(t, pool.Close().Left) })
	return pool, pool.Backends()[0]
}

// who is a function of one call, and returns the name of the call.
func who(name string) hosttools.Tool {
	return hosttools.Func("who", "Returns a name.", func(context.Context, struct{}) (string, error) { return name, nil })
}

// idle waits until no process of the pool has anything to do.
func idle(t *testing.T, pool *live.Pool) {
	t.Helper()
	require.Eventually(t, func() bool { return pool.Stats().Busy == 0 }, time.Minute, time.Millisecond)
}

// A process serves calls with functions of the same kind, one after the other. Each call has its own functions, and
// between two calls none answers.
func TestPoolRoutesFunctions(t *testing.T) {
	clitest.NoLeaks(t)
	pool, backend := warm(t)
	for _, name := range []string{"first", "second"} {
		for range 2 { // the first call of a backend can create its working directory, and so change the kind of process
			resp, err := hosttools.With(backend, who(name), add()).Complete(t.Context(), one(t, "who", struct{}{}))
			require.NoError(t, err)
			require.Contains(t, resp.Text, "ok: "+name)
			idle(t, pool)
		}
	}
	resp, err := hosttools.With(backend, who("third"), add()).Complete(t.Context(), one(t, "who", struct{}{}))
	require.NoError(t, err)
	require.Equal(t, "error: no call is in progress\nok: third", resp.Text)
	require.Equal(t, 5, pool.Stats().Warm)
	before := pool.Stats().Started
	_, err = hosttools.With(backend, who("fourth")).Complete(t.Context(), one(t, "who", struct{}{}))
	require.NoError(t, err)
	require.Equal(t, before+1, pool.Stats().Started, "other functions need another process")
}

// After a function that may change something, neither a process that ends nor an answer that does not fit is repeated.
func TestPoolRepeatsOnlyReads(t *testing.T) {
	for _, readOnly := range []bool{true, false} {
		for name, test := range map[string]struct {
			script script
			schema string
			reason clichain.Reason
		}{
			"process ends": {script{Calls: []toolCall{{"count", struct{}{}}}, Fail: "BROKEN"}, "", clichain.ReasonServerError},
			"other form":   {script{Calls: []toolCall{{"count", struct{}{}}}, Answer: `"text"`}, `{"type":"object"}`, clichain.ReasonBadOutput},
		} {
			t.Run(fmt.Sprint(name, " ", readOnly), func(t *testing.T) {
				pool, backend := warm(t)
				calls := 0
				count := hosttools.Func("count", "Counts.", func(context.Context, struct{}) (int, error) { calls++; return calls, nil })
				count.ReadOnly = readOnly
				req := ask(t, test.script)
				req.Schema = []byte(test.schema)
				_, err := hosttools.With(backend, count).Complete(t.Context(), req)
				failed, ok := errors.AsType[*clichain.BackendError](err)
				require.True(t, ok, "%v", err)
				if !readOnly {
					require.Equal(t, test.reason, failed.Reason)
				}
				require.Equal(t, !readOnly, failed.SideEffects)
				require.Equal(t, readOnly, calls > 1, "%d calls", calls)
				require.Equal(t, readOnly, pool.Stats().Cold > 0)
			})
		}
	}
}

func TestPanicEndsWarmCall(t *testing.T) {
	clitest.NoLeaks(t)
	_, backend := warm(t)
	bad := hosttools.Func("bad", "Panics.", func(context.Context, struct{}) (string, error) { panic("mine") })
	require.PanicsWithValue(t, "mine", func() {
		_, _ = hosttools.With(backend, bad).Complete(t.Context(), one(t, "bad", struct{}{}))
	})
}

// The context of a function ends with its warm call, although the process continues for a moment.
func TestFunctionEndsWithWarmCall(t *testing.T) {
	clitest.NoLeaks(t)
	_, backend := warm(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	wait := hosttools.Func("wait", "Waits.", func(ctx context.Context, _ struct{}) (string, error) {
		cancel()
		<-ctx.Done()
		close(ended)
		return "", ctx.Err()
	})
	_, err := hosttools.With(backend, wait).Complete(ctx, one(t, "wait", struct{}{}))
	require.ErrorIs(t, err, context.Canceled)
	select {
	case <-ended:
	default:
		t.Fatal("the call ended before its function")
	}
}

func TestSessionHasFunctions(t *testing.T) {
	clitest.NoLeaks(t)
	bad := hosttools.Func("bad", "Panics.", func(context.Context, struct{}) (string, error) { panic("mine") })
	s := live.New(player(t, "p", clichain.Config{}), &live.Config{Tools: hosttools.Set(add(), bad)})
	t.Cleanup(s.Stop)
	require.NoError(t, s.Start(t.Context()))
	turn := func(name string, input any) (*clichain.Response, error) {
		return s.Ask(t.Context(), one(t, name, input).Messages[0].Content)
	}
	for _, n := range []int{2, 3} {
		resp, err := turn("add", sum{n, n})
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint("ok: ", 2*n), resp.Text)
	}
	_, err := turn("bad", struct{}{})
	problem, ok := errors.AsType[*hosttools.PanicError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, "mine", problem.Value)
	failed, ok := errors.AsType[*clichain.BackendError](err)
	require.True(t, ok)
	require.True(t, failed.SideEffects)
}

func TestSessionRefusesMistake(t *testing.T) {
	s := live.New(player(t, "p", clichain.Config{}), &live.Config{Tools: hosttools.Set()})
	err := s.Start(t.Context())
	failed, ok := errors.AsType[*clichain.BackendError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, call.ReasonBadOption, failed.Reason)
	require.Equal(t, "p", failed.Backend)
	require.Equal(t, live.Error, s.Status().State)
}
