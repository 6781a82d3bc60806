package jetstream_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// holding runs jobs of alice until release is closed.
func holding(release <-chan struct{}, started chan<- string) clichain.Backend {
	return backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		started <- req.Messages[0].Content
		select {
		case <-release:
			return &clichain.Response{Text: "x"}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}

// A job keeps its slot for longer than AckWait, also if the server loses the slots meanwhile.
func TestLongJobKeepsItsSlot(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, &jetstream.Config{AckWait: time.Second})
	limitOwners(t, q, map[string]jetstream.OwnerLimits{"alice": {Running: 1}})
	release, started := make(chan struct{}), make(chan string, 10)
	work(t, q, holding(release, started), &jetstream.WorkConfig{Slots: 3})
	submit(t, q, owned("a", "alice"))
	<-started
	submit(t, q, owned("b", "alice"))
	stream, err := js.New(nc)
	require.NoError(t, err)
	require.NoError(t, stream.DeleteStream(t.Context(), "clichain_default_running"))
	require.Eventually(t, func() bool { // the worker has taken the slot again
		w, err := q.Waiting(t.Context(), "b")
		return err == nil && w.Why == "alice runs 1 jobs, and may run 1"
	}, limit, 50*time.Millisecond)
	held, until := 0, time.Now().Add(3*time.Second)
	for ; time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if jetstream.HoldSlot(t.Context(), q, "alice", 1) == nil {
			held++
		}
	}
	require.Zero(t, held, "the slot was free")
	require.Empty(t, started)
	close(release)
	collect(t, q, 2)
}

// An owner at its limit does not keep the jobs of other owners of the same priority or of lower ones from running.
func TestOwnerAtItsLimitBlocksNoOther(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	limitOwners(t, q, map[string]jetstream.OwnerLimits{"alice": {Running: 1}})
	for i := range 50 {
		j := owned(fmt.Sprint("alice ", i), "alice")
		j.Priority = jetstream.PriorityHigh
		submit(t, q, j)
	}
	release, started := make(chan struct{}), make(chan string, 100)
	work(t, q, holding(release, started), &jetstream.WorkConfig{Slots: 4})
	<-started
	low := owned("low", "bob")
	low.Priority = jetstream.PriorityLow
	submit(t, q, low, owned("normal", "carol"), job("none"))
	for range 3 {
		require.NotContains(t, <-started, "alice")
	}
	close(release)
	collect(t, q, 53)
}

// Invalid limits are refused, and limits of a later version keep workers and submitters from ignoring them.
func TestLimitsAreChecked(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	for want, l := range map[string]jetstream.OwnerLimits{
		"running: -1":             {Running: -1},
		"queued: -1":              {Queued: -1},
		"cost_usd_per_day: 1e-09": {CostUSD: 1e-9},
		"tokens_per_day: -1":      {Tokens: -1},
		`max_priority: "urgent"`:  {Priority: "urgent"},
	} {
		require.ErrorContains(t, q.SetLimits(t.Context(), &jetstream.Limits{Default: l}), "default: "+want)
		owners := map[string]jetstream.OwnerLimits{"a": l}
		require.ErrorContains(t, q.SetLimits(t.Context(), &jetstream.Limits{Owners: owners}), `"a": `+want)
	}
	require.ErrorContains(t, q.SetLimits(t.Context(), &jetstream.Limits{
		Owners: map[string]jetstream.OwnerLimits{"A.b": {}},
	}), `"A.b" cannot be an owner`)
	got, err := q.Limits(t.Context())
	require.NoError(t, err)
	require.Equal(t, &jetstream.Limits{}, got)
	limitOwners(t, q, map[string]jetstream.OwnerLimits{"a": {Running: 3}})
	require.NoError(t, nc.Publish("clichain.default.limits", []byte(`{"default":{"disk_bytes":1}}`)))
	require.NoError(t, nc.Flush())
	require.ErrorContains(t, open(t, nc, nil).Submit(t.Context(), job("x")), "need a later version")
}
