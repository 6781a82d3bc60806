package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A consumer that delivers nothing, as after the restart of a server, does not end a scan: another one continues.
func TestScanContinuesAfterStall(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Scan{
		"of the stored results": {HeadersOnly: true},
		"of later results too":  {Follow: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t, 0)
			s.followWait = scanWait
			require.NoError(t, s.Open(t.Context(), 1, Options{}))
			const results = 1100 // more than a client requests at once, twice
			for i := range results {
				_, err := s.StoreResult(t.Context(), Result{Key: Key(fmt.Sprint(i)), Data: []byte("answer")})
				require.NoError(t, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			seen := uint64(0)
			for m, err := range s.Scan(ctx, want) {
				require.NoError(t, err)
				if seen == 0 {
					stallConsumers(t, s)
				}
				require.Equal(t, seen+1, m.Sequence)
				if seen = m.Sequence; want.Follow && seen == results {
					break
				}
			}
			require.EqualValues(t, results, seen)
		})
	}
}

// stallConsumers stops the current consumers of results from delivering.
func stallConsumers(t *testing.T, s *Store) {
	t.Helper()
	names := s.Results.ConsumerNames(t.Context())
	stalled := 0
	for name := range names.Name() {
		_, err := s.Results.PauseConsumer(t.Context(), name, time.Now().Add(time.Hour))
		require.NoError(t, err)
		stalled++
	}
	require.NoError(t, names.Err())
	require.Positive(t, stalled)
}
