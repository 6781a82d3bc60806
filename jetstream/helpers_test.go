package jetstream_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// limit bounds what a test waits for, also on a slow machine.
const limit = 60 * time.Second

// embed connects to a server in this process that differs from the one of Embed only in that it does not sync its
// files; see listen.
func embed(t *testing.T) *nats.Conn {
	t.Helper()
	s := listen(t, func(o *server.Options) { o.DontListen, o.MaxPayload = true, 1<<20 })
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.MaxReconnects(-1))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

func open(t *testing.T, nc *nats.Conn, cfg *jetstream.Config) *jetstream.Queue {
	t.Helper()
	q, err := jetstream.Open(t.Context(), nc, cfg)
	require.NoError(t, err)
	return q
}

// work runs a worker until the test, or stop, ends it.
func work(t *testing.T, q *jetstream.Queue, b clichain.Backend, cfg *jetstream.WorkConfig) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- q.Work(ctx, b, cfg) }()
	var stopped atomic.Bool
	stop = func() {
		if cancel(); !stopped.Swap(true) {
			require.NoError(t, <-done)
		}
	}
	t.Cleanup(stop)
	return stop
}

func backend(answer func(ctx context.Context, req clichain.Request) (*clichain.Response, error)) clichain.Backend {
	return clichain.BackendFunc("fake", answer)
}

// echo answers with the last message.
func echo() clichain.Backend {
	return backend(func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		return &clichain.Response{Text: "echo " + req.Messages[len(req.Messages)-1].Content}, nil
	})
}

func job(id string) jetstream.Job {
	return jetstream.Job{ID: id, Request: clichain.Prompt("prompt of " + id)}
}

func submit(t *testing.T, q *jetstream.Queue, jobs ...jetstream.Job) {
	t.Helper()
	for _, j := range jobs {
		require.NoError(t, q.Submit(t.Context(), j))
	}
}

// collect reads n results, one for each ID.
func collect(t *testing.T, q *jetstream.Queue, n int) map[string]*jetstream.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	got := map[string]*jetstream.Result{}
	for r, err := range q.Results(ctx, 0) {
		require.NoError(t, err)
		require.NotContains(t, got, r.ID, "a job has one result")
		if got[r.ID] = r; len(got) == n {
			return got
		}
	}
	require.Fail(t, fmt.Sprintf("%d results instead of %d", len(got), n))
	return nil
}

// syncBuffer is a buffer for a log that several goroutines write.
type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
