package jetstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// backup is a snapshot of a stream: its description and its data.
type backup struct {
	stream string
	about  json.RawMessage
	chunks [][]byte
}

// api sends a request to JetStream and returns the reply.
func api(t *testing.T, nc *nats.Conn, subject string, request any) (reply json.RawMessage) {
	t.Helper()
	data, err := json.Marshal(request)
	require.NoError(t, err)
	msg, err := nc.Request("$JS.API.STREAM."+subject, data, limit)
	require.NoError(t, err)
	require.NotContains(t, string(msg.Data), `"error"`)
	return msg.Data
}

// snapshot backs up a stream while the server runs, as operators do.
func snapshot(t *testing.T, nc *nats.Conn, stream string) *backup {
	t.Helper()
	inbox := nats.NewInbox()
	chunks, err := nc.SubscribeSync(inbox)
	require.NoError(t, err)
	defer func() { _ = chunks.Unsubscribe() }()
	b := &backup{stream: stream}
	b.about = api(t, nc, "SNAPSHOT."+stream, map[string]any{"deliver_subject": inbox})
	for {
		m, err := chunks.NextMsg(limit)
		require.NoError(t, err)
		if len(m.Data) == 0 {
			return b
		}
		b.chunks = append(b.chunks, m.Data)
		if m.Reply != "" { // the server waits for this
			require.NoError(t, m.Respond(nil))
		}
	}
}

// restore creates the stream of a backup.
func (b *backup) restore(t *testing.T, nc *nats.Conn) {
	t.Helper()
	var about struct{ Config, State json.RawMessage }
	require.NoError(t, json.Unmarshal(b.about, &about))
	var to struct {
		Subject string `json:"deliver_subject"`
	}
	request := map[string]any{"config": about.Config, "state": about.State}
	require.NoError(t, json.Unmarshal(api(t, nc, "RESTORE."+b.stream, request), &to))
	for _, chunk := range append(b.chunks, nil) {
		reply, err := nc.Request(to.Subject, chunk, limit)
		require.NoError(t, err)
		require.NotContains(t, string(reply.Data), `"error"`)
	}
}

// backupOrder is the order in which a backup of a running queue must read its streams: see TestBackupOfRunningQueue.
var backupOrder = []string{
	"clichain_default_jobs", "clichain_default_state", "clichain_default_results", "OBJ_clichain_default_payloads",
	"KV_clichain_cooldowns",
}

func dial(t *testing.T, s *server.Server) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// fillQueue stores jobs that wait, answers and a failure, some of them with large payloads.
func fillQueue(t *testing.T, nc *nats.Conn) {
	t.Helper()
	cooldowns, err := jetstream.OpenCooldowns(t.Context(), nc, nil)
	require.NoError(t, err)
	cooldowns.Close() // the test stops its server
	q := open(t, nc, &jetstream.Config{MaxDeliver: 1})
	large, wrong := job("large"), job("failed")
	large.Request = clichain.Prompt(strings.Repeat("x", 600<<10))
	submit(t, q, large, wrong, job("answered"))
	stop := work(t, q, backend(func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		if req.Messages[0].Content == "prompt of failed" {
			return nil, &clichain.BackendError{Reason: clichain.ReasonBadRequest, ExitCode: -1}
		}
		return echo().Complete(ctx, req)
	}), nil)
	collect(t, q, 3)
	stop()
	waits := job("large and ready")
	waits.Request = clichain.Prompt(strings.Repeat("y", 600<<10))
	submit(t, q, job("ready"), owned("owned", "alice"), waits)
}

// requireQueue checks that a server has the queue of fillQueue, and that a worker continues it.
func requireQueue(t *testing.T, nc *nats.Conn) {
	t.Helper()
	q := open(t, nc, &jetstream.Config{MustExist: true})
	cooldowns, err := jetstream.OpenCooldowns(t.Context(), nc, &jetstream.Config{MustExist: true})
	require.NoError(t, err)
	t.Cleanup(cooldowns.Close)
	status, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, status.Ready[jetstream.PriorityNormal])
	require.Equal(t, 2, status.Answers)
	require.Equal(t, 1, status.Failures)
	require.ErrorIs(t, q.Submit(t.Context(), job("answered")), jetstream.ErrExists)
	require.NoError(t, q.Retry(t.Context(), "failed"))
	work(t, q, echo(), nil)
	got := collect(t, q, 6)
	require.Equal(t, "alice", got["owned"].Owner)
	require.Equal(t, "echo prompt of failed", got["failed"].Response.Text)
	require.Len(t, got["large and ready"].Response.Text, 600<<10+len("echo "))
	require.Len(t, got["large"].Response.Text, 600<<10+len("echo "))
}

// A copy of the store directory of a server that has stopped is a complete backup.
func TestBackupOfStoppedServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := listen(t, func(o *server.Options) { o.StoreDir = dir })
	fillQueue(t, dial(t, s))
	s.Shutdown()
	s.WaitForShutdown()
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	requireQueue(t, dial(t, listen(t, func(o *server.Options) { o.StoreDir = copied })))
}

// Snapshots of the streams, made by a server that runs, are a complete backup for an empty server.
func TestBackupBySnapshots(t *testing.T) {
	t.Parallel()
	nc := dial(t, listen(t))
	fillQueue(t, nc)
	to := dial(t, listen(t))
	for _, stream := range backupOrder {
		snapshot(t, nc, stream).restore(t, to)
	}
	requireQueue(t, to)
}

// A worker may finish a job between two snapshots. If the jobs are read before the results, the job keeps its result
// and does not run again. In the other order it is lost.
func TestBackupOfRunningQueue(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]string{
		"jobs first": {backupOrder[0], backupOrder[2]}, "results first": {backupOrder[2], backupOrder[0]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nc := dial(t, listen(t))
			q := open(t, nc, nil)
			submit(t, q, job("1"))
			first := snapshot(t, nc, order[0])
			stop := work(t, q, echo(), nil)
			collect(t, q, 1)
			stop()
			second := snapshot(t, nc, order[1])
			to := dial(t, listen(t))
			first.restore(t, to)
			second.restore(t, to)

			restored := open(t, to, nil)
			_, err := restored.Result(t.Context(), "1")
			if name == "results first" {
				require.ErrorIs(t, err, jetstream.ErrNotFound)
				return
			}
			require.NoError(t, err)
			var again atomic.Bool
			work(t, restored, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
				again.Store(true)
				return nil, errors.New("for nothing")
			}), nil)
			require.Eventually(t, func() bool {
				status, err := restored.Status(t.Context())
				return err == nil && status.Ready[jetstream.PriorityNormal] == 0 && status.Running == 0
			}, limit, 20*time.Millisecond)
			require.False(t, again.Load())
			result, err := restored.Result(t.Context(), "1")
			require.NoError(t, err)
			require.Equal(t, "echo prompt of 1", result.Response.Text)
		})
	}
}
