package jetstream_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

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

// Open does not change a queue that has other values, and names both. Zero keeps those of the queue.
func TestOpenNamesOtherValues(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	open(t, nc, &jetstream.Config{AckWait: 7 * time.Second})
	for name, test := range map[string]struct {
		cfg     *jetstream.Config
		problem string
	}{
		"none":           {cfg: nil},
		"the same":       {cfg: &jetstream.Config{AckWait: 7 * time.Second, Replicas: 1}},
		"MaxDeliver":     {cfg: &jetstream.Config{MaxDeliver: 9}},
		"other AckWait":  {&jetstream.Config{AckWait: 30 * time.Second}, `jetstream: queue "default": AckWait is 7s, not 30s: leave it out to keep that of the queue`},
		"other Replicas": {&jetstream.Config{Replicas: 3}, `jetstream: queue "default": Replicas is 1, not 3: leave it out to keep that of the queue`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := jetstream.Open(t.Context(), nc, test.cfg)
			if test.problem == "" {
				require.NoError(t, err)
				return
			}
			other, ok := errors.AsType[*jetstream.ConfigError](err)
			require.True(t, ok, "%v", err)
			require.EqualError(t, other, test.problem)
			require.Equal(t, "default", other.Queue)
		})
	}
}
