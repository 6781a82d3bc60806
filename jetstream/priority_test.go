package jetstream_test

import (
	"testing"

	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// Submit refuses a priority above that of the owner. A job without a priority gets the highest allowed one.
func TestPriorityOfAnOwnerIsLimited(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	limitOwners(t, q, map[string]jetstream.OwnerLimits{
		"alice": {Priority: jetstream.PriorityNormal}, "carol": {Priority: jetstream.PriorityLow},
	})
	high := owned("high", "alice")
	high.Priority = jetstream.PriorityHigh
	require.EqualError(t, q.Submit(t.Context(), high),
		"jetstream: alice may not use the priority high: use at most normal, or ask the operator to allow it")
	high.Owner = "bob"
	submit(t, q, high, owned("default", "carol"))
	stored, _, err := jetstream.Stored(t.Context(), q, "default")
	require.NoError(t, err)
	require.Equal(t, jetstream.PriorityLow, stored.Priority)
}

// A job that was submitted with a higher priority counts as one of the highest allowed priority, and takes one turn
// with the other jobs of its owner.
func TestJobsAboveTheirPriorityTakeTurns(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	for _, id := range []string{"high 1", "high 2", "high 3"} {
		j := owned(id, "mallory")
		j.Priority = jetstream.PriorityHigh
		submit(t, q, j)
	}
	submit(t, q, owned("normal", "mallory"), owned("bob 1", "bob"), owned("bob 2", "bob"))
	limitOwners(t, q, map[string]jetstream.OwnerLimits{"mallory": {Priority: jetstream.PriorityNormal}})
	s := &stepping{allowed: make(chan struct{})}
	work(t, open(t, nc, nil), s.backend(), nil)
	for range 3 {
		s.allowed <- struct{}{}
	}
	started := s.await(t, 4)[:4]
	require.Contains(t, started[:2], "bob 1", "%q", started)
	require.Contains(t, started[2:], "bob 2", "%q", started)
}
