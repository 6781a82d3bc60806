package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clichain/clichain"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// addResults stores n results whose keys begin with a prefix, and of which every third is a failure.
func addResults(t *testing.T, s *Store, prefix string, n int) {
	t.Helper()
	for i := range n {
		r := Result{Key: Key(fmt.Sprint(prefix, i)), Figures: Figures{
			Owner: "team-" + fmt.Sprint(i%2), Usage: clichain.Usage{InputTokens: int64(i), CostUSD: new(0.5)},
		}}
		if r.Failed = i%3 == 0; r.Failed {
			r.Reason = clichain.ReasonTimeout
		} else {
			r.Backend = "fake"
		}
		_, err := s.StoreResult(t.Context(), r)
		require.NoError(t, err)
	}
}

// counted returns the counts in one order, and the number of headers that were read for them.
func counted(t *testing.T, s *Store) (counts []Count, read int) {
	t.Helper()
	sum, err := Counter{s}.count(t.Context())
	require.NoError(t, err)
	return sorted(sum), sum.read
}

// exact returns the counts that reading each header gives.
func exact(t *testing.T, s *Store) []Count {
	t.Helper()
	var sum summary
	require.NoError(t, Counter{s}.eachHeader(t.Context(), 1, math.MaxInt64, sum.add))
	return sorted(&sum)
}

func sorted(sum *summary) []Count {
	counts := sum.counts()
	slices.SortFunc(counts, func(a, b Count) int { return strings.Compare(a.Owner+a.Backend, b.Owner+b.Backend) })
	return counts
}

// A saved summary and the headers of later results give the same counts as all headers, whatever was removed in the
// meantime, and few headers are read.
func TestCountAfterRemovals(t *testing.T) {
	t.Parallel()
	const results = 3*blockSize + 100
	s := openStore(t)
	addResults(t, s, "r", results)
	require.NoError(t, Counter{s}.Summarize(t.Context()))
	for _, test := range []struct {
		name   string
		change func(t *testing.T)
		read   int // headers at most
	}{
		{"nothing", func(*testing.T) {}, 0},
		{"one result is added", func(t *testing.T) { addResults(t, s, "later", 1) }, 1},
		{"one is removed", func(t *testing.T) { removeResult(t, s, "r5000") }, blockSize},
		{"one is removed and another added", func(t *testing.T) {
			removeResult(t, s, "r2500")
			addResults(t, s, "last", 1)
		}, 2*blockSize + 1},
		{"one is removed and stored again", func(t *testing.T) {
			removeResult(t, s, "r0")
			addResults(t, s, "r", 1)
		}, 3*blockSize + 1},
		{"random ones are removed", func(t *testing.T) {
			for _, i := range rand.Perm(1000)[:20] {
				removeResult(t, s, fmt.Sprint("r", 3000+i))
			}
		}, results},
		{"the first are removed", func(t *testing.T) {
			require.NoError(t, s.Results.Purge(t.Context(), js.WithPurgeSequence(2*blockSize+50)))
		}, blockSize},
		{"all are removed", func(t *testing.T) { require.NoError(t, s.Results.Purge(t.Context())) }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.change(t)
			counts, read := counted(t, s)
			require.Equal(t, exact(t, s), counts)
			require.LessOrEqual(t, read, test.read)
			require.NoError(t, Counter{s}.Summarize(t.Context()))
		})
	}
}

func removeResult(t *testing.T, s *Store, id string) {
	t.Helper()
	msg, err := s.LastResult(t.Context(), Key(id))
	require.NoError(t, err)
	require.NotNil(t, msg)
	require.NoError(t, s.RemoveResult(t.Context(), msg))
}

// The summary of a queue that was removed and created again counts nothing.
func TestCountOfNewStream(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	addResults(t, s, "old", saveAfter)
	require.NoError(t, Counter{s}.Summarize(t.Context()))
	require.NoError(t, s.js.DeleteStream(t.Context(), s.Stream("results")))
	require.NoError(t, s.Open(t.Context(), 1, Options{}))
	addResults(t, s, "new", saveAfter)
	counts, _ := counted(t, s)
	require.Equal(t, exact(t, s), counts)
}

// A summary that is too large gets larger blocks, and has the same counts.
func TestSummaryIsBounded(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	var sum summary
	for i := range 4 * maxSummary / 100 {
		sum.Blocks = append(sum.Blocks, block{uint64(i + 1), uint64(i + 1), []Count{{Figures{Owner: "team"}, blockSize}}})
	}
	want := sum.counts()
	require.NoError(t, Counter{s}.saveSummary(t.Context(), &sum))
	saved, err := Counter{s}.loadSummary(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, saved.counts())
	require.Less(t, len(saved.Blocks), 4*maxSummary/100)
	require.NoError(t, Counter{s}.saveSummary(t.Context(), &sum), "another client has saved one: no error")
}
