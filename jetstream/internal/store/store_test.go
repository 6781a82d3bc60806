package store

import (
	"bytes"
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	s := newStore(t, 0)
	require.NoError(t, s.Open(t.Context(), 1, Options{}))
	return s
}

// newStore returns a store that is not open, on a server with so many bytes. Zero: the size of the disk.
func newStore(t *testing.T, maxStore int64) *Store {
	t.Helper()
	inner, err := server.NewServer(&server.Options{
		DontListen: true, JetStream: true, JetStreamMaxStore: maxStore, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	})
	require.NoError(t, err)
	inner.Start()
	require.True(t, inner.ReadyForConnections(time.Minute))
	t.Cleanup(func() {
		inner.Shutdown()
		inner.WaitForShutdown()
	})
	nc, err := nats.Connect("", nats.InProcessServer(inner))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	s, err := New(nc, "default")
	require.NoError(t, err)
	return s
}

// lostAnswers stores messages, and loses the server's answers.
type lostAnswers struct{ js.JetStream }

func (l lostAnswers) PublishMsg(ctx context.Context, m *nats.Msg, opts ...js.PublishOpt) (*js.PubAck, error) {
	if _, err := l.JetStream.PublishMsg(ctx, m, opts...); err != nil {
		return nil, err
	}
	return nil, nats.ErrTimeout
}

// The payload stays if the server did not confirm that it stored the job, because the message may be stored.
func TestPayloadOfUnconfirmedJobStays(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	whole := s.js
	s.js = lostAnswers{whole}
	large := bytes.Repeat([]byte("x"), 2*maxInline)
	j := Job{Group: Group{Priority: "normal"}, Class: ReadyClass, Key: Key("a"), Data: large}
	require.ErrorIs(t, s.Add(t.Context(), j), nats.ErrTimeout)
	s.js = whole
	require.ErrorIs(t, s.Add(t.Context(), j), ErrExists)
	msg, err := s.LastJob(t.Context(), j.Key)
	require.NoError(t, err)
	content, err := s.Content(t.Context(), msg.Header, msg.Data)
	require.NoError(t, err)
	require.Equal(t, len(large), len(content))
	objects, err := s.objects.List(t.Context())
	require.NoError(t, err)
	require.Len(t, objects, 1, "that of the refused job is removed")
}

// Reserve relies on the figures of the server for a second, counts the admitted jobs, and asks before it refuses.
func TestReserve(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	s.space.set(0, 100)
	require.True(t, s.space.reserve(60))
	require.False(t, s.space.reserve(60))
	require.True(t, s.space.reserve(40))
	require.NoError(t, s.Reserve(t.Context(), Key("a"), make([]byte, 60)), "the server knows of no job")
	s.space.at = time.Now().Add(-2 * spaceAge)
	require.False(t, s.space.reserve(1))
}

// Open measures the store again if a client was killed during a measurement and left its streams.
func TestOpenAfterCutOffMeasurement(t *testing.T) {
	t.Parallel()
	s := newStore(t, 16<<20)
	s.lockAge = time.Second
	for _, cfg := range []js.StreamConfig{
		{Name: s.Stream("jobs"), Subjects: []string{s.subject("job.>")}, Retention: js.WorkQueuePolicy, AllowMsgSchedules: true},
		{Name: measureStream, MaxBytes: 16 << 20},
		{Name: measureLock, Storage: js.MemoryStorage},
	} {
		_, err := s.js.CreateStream(t.Context(), cfg)
		require.NoError(t, err)
	}
	require.NoError(t, s.Open(t.Context(), 1, Options{}))
	_, limit, err := s.Space(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 8<<20, limit)
}

// measuring cancels a context when the measurement begins.
type measuring struct {
	js.JetStream
	cancel func()
}

func (m measuring) CreateStream(ctx context.Context, cfg js.StreamConfig) (js.Stream, error) {
	if cfg.Name == measureStream {
		m.cancel()
	}
	return m.JetStream.CreateStream(ctx, cfg)
}

// The end of the context leaves no stream that other clients would have to wait for.
func TestMeasurementOutlivesContext(t *testing.T) {
	t.Parallel()
	s := newStore(t, 16<<20)
	whole := s.js
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.js = measuring{whole, cancel}
	require.ErrorIs(t, s.Open(ctx, 1, Options{}), context.Canceled)
	_, err := whole.Stream(t.Context(), measureLock)
	require.ErrorIs(t, err, js.ErrStreamNotFound)
	_, err = whole.Stream(t.Context(), measureStream)
	require.ErrorIs(t, err, js.ErrStreamNotFound)
	jobs, err := whole.Stream(t.Context(), s.Stream("jobs"))
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(8<<20), jobs.CachedInfo().Config.Metadata[jobBytes])
}
