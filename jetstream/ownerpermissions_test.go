package jetstream_test

import (
	"context"
	"testing"

	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// The permissions of a user of the server fix the owner and the priorities of its jobs.
func TestPermissionsFixTheOwner(t *testing.T) {
	r := listenWithRoles(t)
	all, violations := open(t, r.connect(t, "operator"), nil), r.violations
	q := open(t, r.connect(t, "alice"), nil)
	low := owned("low", "alice")
	low.Priority = jetstream.PriorityLow
	submit(t, q, owned("own", "alice"), low)
	require.Empty(t, violations)

	high := owned("high", "alice")
	high.Priority = jetstream.PriorityHigh
	for _, j := range []jetstream.Job{owned("bob", "bob"), job("none"), high} {
		submit(t, all, func() jetstream.Job { other := j; other.ID += " of the operator"; return other }())
		ctx, cancel := context.WithCancel(t.Context())
		var violation error
		go func() {
			violation = <-violations
			cancel()
		}()
		require.Error(t, q.Submit(ctx, j), j.ID)
		<-ctx.Done()
		require.ErrorContains(t, violation, "permissions violation")
	}
	work(t, all, echo(), nil)
	got := collect(t, all, 5)
	require.Equal(t, "alice", got["own"].Owner)
	require.Equal(t, "alice", got["low"].Owner)
	for _, id := range []string{"bob", "none", "high"} {
		_, err := all.Result(t.Context(), id)
		require.ErrorIs(t, err, jetstream.ErrNotFound, id)
	}
}
