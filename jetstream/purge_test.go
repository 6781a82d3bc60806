package jetstream_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// Purge removes the selected results and counts them. All others stay, as does their status.
func TestPurge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		filter jetstream.PurgeFilter
		stay   string
	}{
		{"all", jetstream.PurgeFilter{}, ""},
		{"an owner", jetstream.PurgeFilter{Owners: []string{"a"}}, "x1 x3 y1 y3 z"},
		{"no owner", jetstream.PurgeFilter{Owners: []string{""}}, "x0 x1 x2 x3 y0 y1 y2 y3"},
		{"two owners", jetstream.PurgeFilter{Owners: []string{"a", "b"}}, "z"},
		{"a batch", jetstream.PurgeFilter{IDPrefix: "y"}, "x0 x1 x2 x3 z"},
		{"a batch of an owner", jetstream.PurgeFilter{IDPrefix: "y", Owners: []string{"b"}}, "x0 x1 x2 x3 y0 y2 z"},
		{"old", jetstream.PurgeFilter{Before: time.Now().Add(-time.Hour)}, "x0 x1 x2 x3 y0 y1 y2 y3 z"},
		{"until now", jetstream.PurgeFilter{Before: time.Now().Add(time.Hour)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), nil)
			var ids []string
			for _, batch := range []string{"x", "y"} {
				for i := range 4 {
					j := job(fmt.Sprint(batch, i))
					j.Owner = []string{"a", "b"}[i%2]
					submit(t, q, j)
					ids = append(ids, j.ID)
				}
			}
			submit(t, q, jetstream.Job{ID: "z", Request: clichain.Prompt(strings.Repeat("large ", 1<<18))})
			stop := work(t, q, echo(), nil)
			collect(t, q, len(ids)+1)
			stop()
			n, err := jetstream.Purge(t.Context(), q, test.filter)
			require.NoError(t, err)
			var stay []string
			for r, err := range q.Kept(t.Context(), 0) {
				require.NoError(t, err)
				stay = append(stay, r.ID)
			}
			require.ElementsMatch(t, strings.Fields(test.stay), stay)
			require.Equal(t, len(ids)+1-len(stay), n)
			s, err := q.Status(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(stay), s.Answers)
			require.Equal(t, strings.Count(test.stay, "z"), jetstream.Payloads(t.Context(), q))
		})
	}
}

// Purge removes no job that waits or runs, and no result whose worker has not acknowledged the job: that job would run
// twice.
func TestPurgeLeavesJobs(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("stored"))
	require.NoError(t, jetstream.AnswerAndVanish(t.Context(), q, "stored"))
	started, release := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(started) })
	submit(t, q, job("runs"))
	stop := work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		once()
		<-release
		return &clichain.Response{Text: "done"}, nil
	}), nil)
	<-started
	submit(t, q, job("waits"))
	n, err := jetstream.Purge(t.Context(), q, jetstream.PurgeFilter{})
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = q.Waiting(t.Context(), "waits")
	require.NoError(t, err)
	close(release)
	for _, id := range []string{"stored", "runs", "waits"} {
		_, err := q.Wait(t.Context(), id)
		require.NoError(t, err, id)
	}
	stop()
}

// The error for a removed result differs from that of a pending one, also in Wait.
func TestRemovedResult(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("a"))
	work(t, q, echo(), nil)
	collect(t, q, 1)
	require.Eventually(t, func() bool {
		n, err := jetstream.Purge(t.Context(), q, jetstream.PurgeFilter{})
		return err == nil && n == 1
	}, limit, time.Millisecond)
	_, err := q.Result(t.Context(), "a")
	require.ErrorIs(t, err, jetstream.ErrNotFound)
	require.ErrorContains(t, err, "removed")
	_, err = q.Wait(t.Context(), "a")
	require.ErrorIs(t, err, jetstream.ErrNotFound)
}
