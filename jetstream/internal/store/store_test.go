package store

import (
	"bytes"
	"context"
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
	require.NoError(t, s.Open(t.Context(), 1, true))
	return s
}

// newStore is one that is not open, on a server for so many bytes. Zero: as many as the disk has.
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

// lostAnswers stores messages, and loses what the server answers.
type lostAnswers struct{ js.JetStream }

func (l lostAnswers) PublishMsg(ctx context.Context, m *nats.Msg, opts ...js.PublishOpt) (*js.PubAck, error) {
	if _, err := l.JetStream.PublishMsg(ctx, m, opts...); err != nil {
		return nil, err
	}
	return nil, nats.ErrTimeout
}

// A job whose storing the server did not confirm keeps its payload: the message may be stored.
func TestPayloadOfUnconfirmedJobStays(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	whole := s.js
	s.js = lostAnswers{whole}
	large := bytes.Repeat([]byte("x"), 2*maxInline)
	j := Job{Class: ReadyClass, Priority: "normal", Key: Key("a"), Data: large}
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

// Reserve relies on the figures of the server for a second, counts what it has admitted, and asks before it refuses.
func TestReserve(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	s.room.set(0, 100)
	require.True(t, s.room.reserve(60))
	require.False(t, s.room.reserve(60))
	require.True(t, s.room.reserve(40))
	require.NoError(t, s.Reserve(t.Context(), Key("a"), make([]byte, 60)), "the server knows of no job")
	s.room.at = time.Now().Add(-2 * roomAge)
	require.False(t, s.room.reserve(1))
}

// Open measures the store again where an earlier attempt was cut off and left its stream.
func TestOpenAfterCutOffMeasurement(t *testing.T) {
	t.Parallel()
	s := newStore(t, 16<<20)
	for _, cfg := range []js.StreamConfig{
		{Name: s.Stream("jobs"), Subjects: []string{s.subject("job.>")}, Retention: js.WorkQueuePolicy, AllowMsgSchedules: true},
		{Name: s.Stream("room"), MaxBytes: 16 << 20},
	} {
		_, err := s.js.CreateStream(t.Context(), cfg)
		require.NoError(t, err)
	}
	require.NoError(t, s.Open(t.Context(), 1, true))
	_, limit, err := s.Room(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 8<<20, limit)
}
