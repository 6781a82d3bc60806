package jetstream_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func openCooldowns(t *testing.T, nc *nats.Conn) *jetstream.Cooldowns {
	t.Helper()
	s, err := jetstream.OpenCooldowns(t.Context(), nc, nil)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// A limit that one worker meets puts the login in cooldown for all workers, within moments.
func TestLimitOfTheFleet(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	var runs atomic.Int64
	limited := backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		runs.Add(1)
		return nil, &clichain.BackendError{Reason: clichain.ReasonUsageLimit, RetryAfter: time.Now().Add(time.Hour)}
	})
	chain := func() *clichain.Chain {
		return clichain.ChainOf([]clichain.Backend{limited}, &clichain.ChainConfig{Store: openCooldowns(t, nc)})
	}
	one, other := chain(), chain()
	_, err := one.Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorIs(t, err, clichain.ErrUsageLimit)
	require.Eventually(t, func() bool { return other.Ready(t.Context()) != nil }, limit, time.Millisecond)
	_, err = other.Complete(t.Context(), clichain.Prompt("x"))
	require.ErrorIs(t, err, clichain.ErrCoolingDown)
	require.EqualValues(t, 1, runs.Load())
	_, err = chain().Complete(t.Context(), clichain.Prompt("x")) // a client that opens the cooldowns later
	require.ErrorIs(t, err, clichain.ErrCoolingDown)

	s, err := open(t, nc, nil).Status(t.Context())
	require.NoError(t, err)
	require.Len(t, s.Cooldowns, 1)
	require.Equal(t, clichain.ReasonUsageLimit, s.Cooldowns[0].State.Reason)
}

// Workers read cooldowns that a version before State.Requests wrote.
func TestCooldownsOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	asked := 0
	broken := backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		asked++
		return nil, &clichain.BackendError{Reason: clichain.ReasonExit}
	})
	s := openCooldowns(t, nc)
	require.NoError(t, s.Update(t.Context(), broken.Name(), func(cooldown.State) cooldown.State {
		return cooldown.State{Reason: clichain.ReasonExit, Failures: 1, At: time.Now().UTC()}
	}))
	server, err := js.New(nc)
	require.NoError(t, err)
	bucket, err := server.KeyValue(t.Context(), "clichain_cooldowns")
	require.NoError(t, err)
	keys, err := bucket.Keys(t.Context())
	require.NoError(t, err)
	old := fmt.Sprintf(`{"key":%q,"state":{"reason":"exit","failures":2,"at":%q}}`, broken.Name(), time.Now().UTC().Format(time.RFC3339Nano))
	_, err = bucket.PutString(t.Context(), keys[0], old)
	require.NoError(t, err)
	later := openCooldowns(t, nc)
	state, err := later.Load(t.Context(), broken.Name())
	require.NoError(t, err)
	require.Equal(t, 2, state.Failures)

	c := clichain.ChainOf([]clichain.Backend{broken}, &clichain.ChainConfig{Store: later})
	_, err = c.Complete(t.Context(), clichain.Prompt("the third"))
	require.ErrorIs(t, err, clichain.ErrExit)
	_, err = c.Complete(t.Context(), clichain.Prompt("the fourth"))
	require.ErrorIs(t, err, clichain.ErrCoolingDown, "the probe fails")
	require.Equal(t, 2, asked)
}

// No concurrent update is lost: each is a compare-and-set.
func TestUpdatesAtOnce(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	stores := []*jetstream.Cooldowns{openCooldowns(t, nc), openCooldowns(t, nc)}
	var all sync.WaitGroup
	const each = 10
	for _, s := range stores {
		for range 2 {
			all.Go(func() {
				for range each {
					// On a busy machine an update may reach its time limit. That is no lost update, because it
					// returns an error.
					for s.Update(t.Context(), "key", func(st cooldown.State) cooldown.State {
						st.Failures++
						return st
					}) != nil {
						continue
					}
				}
			})
		}
	}
	all.Wait()
	fresh := openCooldowns(t, nc)
	st, err := fresh.Load(t.Context(), "key")
	require.NoError(t, err)
	require.Equal(t, 4*each, st.Failures)

	require.NoError(t, fresh.Update(t.Context(), "key", func(cooldown.State) cooldown.State { return cooldown.State{} }))
	require.Eventually(t, func() bool {
		st, err := stores[0].Load(t.Context(), "key")
		return err == nil && st == cooldown.State{}
	}, limit, time.Millisecond)
	require.NoError(t, fresh.Update(t.Context(), "key", func(cooldown.State) cooldown.State { return cooldown.State{Failures: 1} }))
	st, err = fresh.Load(t.Context(), "key")
	require.NoError(t, err)
	require.Equal(t, 1, st.Failures, "who has written it reads it")
}

// If the server is gone, an update fails within its time limit, and Load still works.
func TestCooldownsWithoutServer(t *testing.T) {
	t.Parallel()
	server, err := jetstream.Embed(t.TempDir())
	require.NoError(t, err)
	nc, err := server.Connect()
	require.NoError(t, err)
	defer nc.Close()
	s := openCooldowns(t, nc)
	require.NoError(t, server.Close())
	_, err = s.Load(t.Context(), "key")
	require.NoError(t, err)
	require.Error(t, s.Update(t.Context(), "key", func(cooldown.State) cooldown.State { return cooldown.State{Failures: 1} }))
}
