package call

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A call continues while its reader is busy, and waits when the buffer of unread events is full.
func TestStreamWaitsForReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told, read := 0, 0
		for e, err := range Stream(t.Context(), func(_ context.Context, emit func(Event)) (*Response, error) {
			for range 1000 {
				emit(Event{Kind: EventDelta})
				told++
			}
			return new(Response), nil
		}) {
			require.NoError(t, err)
			synctest.Wait()
			if read++; e.Kind == EventDelta {
				require.Equal(t, min(read+ahead, 1000), told)
			}
		}
		require.Equal(t, 1001, read)
	})
}

// A call ends after its reader has left the loop, although it still emits events.
func TestStreamReaderLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		for range Stream(t.Context(), func(ctx context.Context, emit func(Event)) (*Response, error) {
			for range 1000 {
				emit(Event{Kind: EventDelta})
				told++
			}
			return nil, context.Cause(ctx)
		}) {
			break
		}
		require.Equal(t, 1000, told)
	})
}
