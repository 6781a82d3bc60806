package jetstream_test

import (
	"strings"
	"testing"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"github.com/stretchr/testify/require"
)

// bytesOf returns the size of a stream in the store.
func bytesOf(t *testing.T, nc *nats.Conn, stream string) int {
	t.Helper()
	client, err := js.New(nc)
	require.NoError(t, err)
	s, err := client.Stream(t.Context(), stream)
	require.NoError(t, err)
	return int(s.CachedInfo().State.Bytes)
}

// A job takes the bytes of its prompt and less than 1 KiB more, and a result those of its answer and less than 1 KiB more. The page for
// operators has these figures.
func TestBytesInTheStore(t *testing.T) {
	t.Parallel()
	const jobs, text = 200, 1000
	nc := embed(t)
	q := open(t, nc, nil)
	empty := bytesOf(t, nc, "clichain_default_jobs")
	for range jobs {
		j := owned(nuid.Next(), "alice")
		j.Request = clichain.Prompt(strings.Repeat("x", text))
		submit(t, q, j)
	}
	job := (bytesOf(t, nc, "clichain_default_jobs") - empty) / jobs
	work(t, q, echo(), &jetstream.WorkConfig{Slots: 4})
	collect(t, q, jobs)
	result := bytesOf(t, nc, "clichain_default_results") / jobs
	t.Logf("with a prompt and an answer of %d bytes each, a job takes %d bytes, and a result %d", text, job, result)
	require.Less(t, job-text, 1<<10)
	require.Less(t, result-text, 1<<10)
}
