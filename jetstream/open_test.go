package jetstream_test

import (
	"fmt"
	"testing"

	"github.com/clichain/clichain/jetstream"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// Several clients can create queues at the same time, also if a measurement reserves the whole store for a moment. No
// measurement counts the space of another one.
func TestOpenAtTheSameTime(t *testing.T) {
	t.Parallel()
	const maxStore = 1 << 30
	nc := connectTo(t, maxStore)
	stream, err := js.New(nc)
	require.NoError(t, err)
	for round := range 20 {
		failed := make(chan error, 8)
		for i := range cap(failed) {
			go func() {
				_, err := jetstream.Open(t.Context(), nc, &jetstream.Config{Name: fmt.Sprint("q", round, "-", i%2)})
				failed <- err
			}()
		}
		for range cap(failed) {
			require.NoError(t, <-failed)
		}
		for i := range 2 {
			jobs, err := stream.Stream(t.Context(), fmt.Sprint("clichain_q", round, "-", i, "_jobs"))
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint(maxStore/2), jobs.CachedInfo().Config.Metadata["clichain_job_bytes"])
		}
	}
}
