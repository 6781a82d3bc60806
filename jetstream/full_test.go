package jetstream_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// connectTo starts a server with a store of at most so many bytes.
func connectTo(t *testing.T, maxStore int64) *nats.Conn {
	t.Helper()
	s := listen(t, func(o *server.Options) { o.JetStreamMaxStore = maxStore })
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// limitResults makes the server refuse further results; a limit of -1 removes the limit.
func limitResults(t *testing.T, nc *nats.Conn, bytes int64) {
	t.Helper()
	stream, err := js.New(nc)
	require.NoError(t, err)
	for name := range streamNames(t, stream) {
		if s, err := stream.Stream(t.Context(), name); strings.HasSuffix(name, "_results") {
			require.NoError(t, err)
			cfg := s.CachedInfo().Config
			cfg.MaxBytes, cfg.Discard = bytes, js.DiscardNew
			_, err = stream.UpdateStream(t.Context(), cfg)
			require.NoError(t, err)
		}
	}
}

func streamNames(t *testing.T, stream js.JetStream) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	lister := stream.StreamNames(t.Context())
	for name := range lister.Name() {
		names[name] = true
	}
	require.NoError(t, lister.Err())
	return names
}

// Submit refuses jobs while there is still space for the results of all jobs in the queue.
func TestSubmitLeavesRoomForResults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		bytes int // of a prompt
	}{
		{"jobs in messages", 100 << 10},
		{"jobs in the object store", 1 << 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q := open(t, connectTo(t, 16<<20), &jetstream.Config{MaxResultBytes: 16 << 20}) // the default is too small for all
			text := strings.Repeat("x", test.bytes)
			n, err := 0, error(nil)
			for ; n < 1000; n++ {
				if err = q.Submit(t.Context(), jetstream.Job{ID: fmt.Sprint(n), Request: clichain.Prompt(text)}); err != nil {
					break
				}
			}
			require.ErrorIs(t, err, jetstream.ErrFull)
			require.ErrorContains(t, err, "of at most 8388608 bytes")
			require.ErrorContains(t, err, "clichain_default_jobs")
			require.Greater(t, n, 1)
			require.ErrorIs(t, q.Submit(t.Context(), jetstream.Job{ID: "0", Request: clichain.Prompt(text)}), jetstream.ErrExists)
			s, err := q.Status(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, 8<<20, s.JobLimit)
			require.Greater(t, s.JobBytes, s.JobLimit*3/4)
			require.Contains(t, strings.Join(s.Warnings, "\n"), "the queue refuses jobs")

			work(t, q, echo(), &jetstream.WorkConfig{Slots: 4})
			for id, r := range collect(t, q, n) {
				require.NotNil(t, r.Response, id)
				require.NoError(t, q.Forget(t.Context(), id))
			}
			require.Eventually(t, func() bool { return q.Submit(t.Context(), job("later")) == nil }, limit, 10*time.Millisecond)
		})
	}
}

// Status has the space of results, and warns before workers remove the oldest of them.
func TestStatusHasResultSpace(t *testing.T) {
	t.Parallel()
	q := open(t, connectTo(t, 64<<20), &jetstream.Config{MaxResultBytes: 1 << 20, MaxResultAge: 48 * time.Hour})
	work(t, q, echo(), nil)
	const jobs = 9
	for i := range jobs {
		s, err := q.Status(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1<<20, s.ResultLimit)
		require.Equal(t, 48*time.Hour, s.ResultAge)
		require.GreaterOrEqual(t, s.ResultBytes, int64(i*100_000))
		require.Equal(t, s.ResultBytes > 838_860, strings.Contains(strings.Join(s.Warnings, "\n"), "workers remove the oldest"))
		submit(t, q, jetstream.Job{ID: fmt.Sprint(i), Request: clichain.Prompt(strings.Repeat("x", 100_000))})
		collect(t, q, i+1)
	}
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Contains(t, strings.Join(s.Warnings, "\n"), fmt.Sprintf("take %d of at most 1048576 bytes", s.ResultBytes))
}

// If other data fills the store, Submit refuses a job with a clear error, too, and no answer is lost.
func TestFullStore(t *testing.T) {
	t.Parallel()
	nc := connectTo(t, 4<<20)
	q := open(t, nc, nil)
	running, answer := make(chan struct{}), make(chan struct{})
	folder := t.TempDir()
	work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		close(running) // once
		<-answer
		return &clichain.Response{Text: "paid for"}, nil
	}), &jetstream.WorkConfig{KeepDir: folder})
	submit(t, q, job("runs"))
	<-running
	stream, err := js.New(nc)
	require.NoError(t, err)
	other, err := stream.CreateStream(t.Context(), js.StreamConfig{Name: "other", Subjects: []string{"other"}})
	require.NoError(t, err)
	for err == nil {
		_, err = stream.Publish(t.Context(), "other", make([]byte, 256<<10))
	}
	err = q.Submit(t.Context(), job("a"))
	require.ErrorIs(t, err, jetstream.ErrFull)
	require.ErrorContains(t, err, "the server's store is full")

	close(answer)
	keptFile(t, folder)
	_, err = q.Result(t.Context(), "runs")
	require.ErrorIs(t, err, jetstream.ErrPending)
	require.NoError(t, other.Purge(t.Context()))
	r, err := q.Wait(t.Context(), "runs")
	require.NoError(t, err)
	require.Equal(t, "paid for", r.Response.Text)
	require.Eventually(t, func() bool {
		d, err := q.Depth(t.Context())
		return err == nil && d.Running == 0
	}, limit, 10*time.Millisecond)
}

// Submit asks the server for the space of the queue at most once a second, and again before it refuses a job.
func TestSubmitAsksForRoomOnceASecond(t *testing.T) {
	t.Parallel()
	nc := connectTo(t, 16<<20)
	q, other := open(t, nc, nil), open(t, nc, nil)
	var asked atomic.Int64
	sub, err := nc.Subscribe("$JS.API.STREAM.INFO.clichain_default_jobs", func(*nats.Msg) { asked.Add(1) })
	require.NoError(t, err)
	require.NoError(t, nc.Flush())
	began := time.Now()
	for i := range 20 {
		submit(t, q, job(fmt.Sprint(i)))
	}
	seconds := int64(time.Since(began)/time.Second) + 1
	require.NoError(t, nc.Flush())
	require.Positive(t, asked.Load())
	require.LessOrEqual(t, asked.Load(), seconds)
	require.NoError(t, sub.Unsubscribe())

	text := strings.Repeat("x", 400<<10)
	n := 0
	for ; err == nil; n++ {
		err = q.Submit(t.Context(), jetstream.Job{ID: fmt.Sprint("large ", n), Request: clichain.Prompt(text)})
	}
	require.ErrorIs(t, err, jetstream.ErrFull)
	require.NoError(t, other.Drop(t.Context(), "large 0"))
	submit(t, q, jetstream.Job{ID: "again", Request: clichain.Prompt(text)})
}
