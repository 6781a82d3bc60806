package jetstream_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream"
)

// Open with MustExist creates no queue, and its error names the existing queues.
func TestOpenMustExist(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	stream, err := js.New(nc)
	require.NoError(t, err)
	mistyped := &jetstream.Config{Name: "nigthly", MustExist: true}
	_, err = jetstream.Open(t.Context(), nc, mistyped)
	missing, ok := errors.AsType[*jetstream.NoQueueError](err)
	require.True(t, ok, err)
	require.Equal(t, "nigthly", missing.Name)
	require.Empty(t, missing.Queues)
	require.Empty(t, streamNames(t, stream))

	open(t, nc, nil)
	open(t, nc, &jetstream.Config{Name: "nightly"})
	before := streamNames(t, stream)
	_, err = jetstream.Open(t.Context(), nc, mistyped)
	require.ErrorContains(t, err, `there is no queue "nigthly": it has "default", "nightly"`)
	require.Equal(t, before, streamNames(t, stream))
	_, err = jetstream.Open(t.Context(), nc, &jetstream.Config{Name: "nightly", MustExist: true})
	require.NoError(t, err)

	_, err = jetstream.OpenCooldowns(t.Context(), nc, &jetstream.Config{MustExist: true})
	require.ErrorIs(t, err, jetstream.ErrNoCooldowns)
	require.Equal(t, before, streamNames(t, stream))
}

func TestCooldownStates(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	one := openCooldowns(t, nc)
	state := cooldown.State{Failures: 1, Reason: clichain.ReasonUsageLimit, Until: time.Now().Add(time.Hour).UTC()}
	require.NoError(t, one.Update(t.Context(), "codex@f/m", func(cooldown.State) cooldown.State { return state }))
	other, err := jetstream.OpenCooldowns(t.Context(), nc, &jetstream.Config{MustExist: true})
	require.NoError(t, err)
	defer other.Close()
	states, err := other.States(t.Context())
	require.NoError(t, err)
	require.Len(t, states, 1)
	require.Equal(t, clichain.ReasonUsageLimit, states["codex@f/m"].Reason)
}

// Result distinguishes a job that waits or runs from an unknown job.
func TestResultOfPendingJob(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("a"))
	_, err := q.Result(t.Context(), "a")
	require.ErrorIs(t, err, jetstream.ErrPending)
	require.NotErrorIs(t, err, jetstream.ErrNotFound)
	_, err = q.Result(t.Context(), "b")
	require.ErrorIs(t, err, jetstream.ErrNotFound)

	work(t, q, noCooldown(failing(1000, clichain.BackendError{Reason: clichain.ReasonOverloaded})), nil)
	require.Eventually(t, func() bool {
		_, err := q.Result(t.Context(), "a")
		return errors.Is(err, jetstream.ErrPending) && strings.Contains(err.Error(), "it waits until")
	}, limit, 10*time.Millisecond)
}

func TestWait(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	_, err := q.Wait(t.Context(), "a")
	require.ErrorIs(t, err, jetstream.ErrNotFound)

	submit(t, q, job("a"), job("dropped"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = q.Wait(ctx, "a")
	require.ErrorIs(t, err, context.DeadlineExceeded)

	dropped := make(chan error, 1)
	go func() {
		_, err := q.Wait(t.Context(), "dropped")
		dropped <- err
	}()
	require.NoError(t, q.Drop(t.Context(), "dropped"))
	require.ErrorIs(t, <-dropped, jetstream.ErrNotFound)

	answer := make(chan *jetstream.Result, 1)
	go func() {
		r, err := q.Wait(t.Context(), "a")
		if err != nil {
			t.Error(err)
		}
		answer <- r
	}()
	work(t, q, echo(), nil)
	require.Equal(t, "echo prompt of a", (<-answer).Response.Text)
}

// Open waits while a cluster has no leader, and reports it if none is elected.
func TestOpenWithoutLeader(t *testing.T) {
	t.Parallel()
	c := newStoppedCluster(t)
	c.start(0)
	nc := c.connect()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := jetstream.Open(ctx, nc, nil)
	require.ErrorContains(t, err, "no JetStream leader")
	require.ErrorContains(t, err, "more than half")
	require.NotContains(t, err.Error(), "err_code")
	require.ErrorIs(t, err, context.DeadlineExceeded)

	opened := make(chan error, 1)
	go func() {
		_, err := jetstream.Open(t.Context(), nc, nil)
		if err == nil {
			var s *jetstream.Cooldowns
			if s, err = jetstream.OpenCooldowns(t.Context(), nc, nil); err == nil {
				s.Close()
			}
		}
		opened <- err
	}()
	c.start(1)
	c.start(2)
	require.NoError(t, <-opened)
}

// A server without JetStream never gets a leader, so Open does not wait for one.
func TestOpenWithoutJetStream(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true})
	require.NoError(t, err)
	s.Start()
	require.True(t, s.ReadyForConnections(limit))
	t.Cleanup(s.Shutdown)
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	_, err = jetstream.Open(t.Context(), nc, nil)
	require.ErrorIs(t, err, nats.ErrNoResponders)
	require.ErrorContains(t, err, "start the server with JetStream")
}
