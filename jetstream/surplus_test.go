package jetstream_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// Workers end the latest jobs of an owner whose client ignores the limit of queued jobs. They keep the limit, all running
// jobs, and the jobs of other owners.
func TestWorkersEndJobsAboveTheLimit(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	for i := range 30 {
		submit(t, q, owned(fmt.Sprint("alice ", i), "alice"), owned(fmt.Sprint("bob ", i), "bob"))
	}
	high := owned("alice high", "alice")
	high.Priority = jetstream.PriorityHigh
	submit(t, q, high)
	q = open(t, nc, nil)
	jetstream.EndSurplusEvery(q, 10*time.Millisecond)
	release, started := make(chan struct{}), make(chan string, 100)
	require.NoError(t, q.SetLimits(t.Context(), &jetstream.Limits{
		Default: jetstream.OwnerLimits{Running: 1, Queued: 30},
		Owners:  map[string]jetstream.OwnerLimits{"alice": {Running: 1, Queued: 5}},
	}))
	work(t, q, holding(release, started), &jetstream.WorkConfig{Slots: 2})
	for id, r := range collect(t, q, 26) {
		require.Equal(t, "alice", r.Owner, id)
		require.Equal(t, clichain.ReasonPermissionRefused, r.Failure.Reason)
		require.Contains(t, r.Failure.Message, "alice may have 5 jobs in the queue")
		require.Nil(t, r.Job)
	}
	close(release)
	got := collect(t, q, 26+5+30)
	for _, id := range []string{"alice high", "alice 0", "alice 1", "alice 2", "alice 3"} {
		require.NotNil(t, got[id].Response, id)
	}
}

// A few jobs more than the limit, as clients that submit at the same time can cause, are run.
func TestWorkersRunAFewJobsAboveTheLimit(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	for i := range 14 {
		submit(t, q, owned(fmt.Sprint("alice ", i), "alice"))
	}
	limitOwners(t, q, map[string]jetstream.OwnerLimits{"alice": {Running: 1, Queued: 5}})
	q = open(t, nc, nil)
	jetstream.EndSurplusEvery(q, time.Millisecond)
	p := &mostRunning{running: map[string]int{}, max: map[string]int{}}
	work(t, q, p.backend(5*time.Millisecond), nil)
	for id, r := range collect(t, q, 14) {
		require.NotNil(t, r.Response, id)
	}
}
