package jetstream_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// A result that the server does not accept is kept and stored later. Until then the worker takes no jobs, logs a
// warning, and reports it in its status.
func TestWorkerStoresResultOnceThereIsRoom(t *testing.T) {
	t.Parallel()
	nc := connectTo(t, 16<<20)
	q := open(t, nc, nil)
	limitResults(t, nc, 1)
	var log syncBuffer
	var asked atomic.Int64
	folder, stored := t.TempDir(), make(chan *jetstream.Result, 2)
	work(t, q, backend(func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		asked.Add(1)
		return &clichain.Response{Text: "paid for"}, nil
	}), &jetstream.WorkConfig{
		Name: "w", Slots: 2, KeepDir: folder, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		OnResult: func(r *jetstream.Result) { stored <- r },
	})
	submit(t, q, job("a"))
	var s *jetstream.Status
	require.Eventually(t, func() bool {
		s, _ = q.Status(t.Context())
		return s != nil && len(s.Workers) == 1 && s.Workers[0].Unstored == 1
	}, limit, 10*time.Millisecond)
	require.Contains(t, strings.Join(s.Warnings, "\n"), "worker w keeps 1 result that the server does not accept")
	require.Contains(t, log.String(), "cannot store a result")
	require.NotContains(t, log.String(), "paid for")
	file := keptFile(t, folder)
	submit(t, q, job("b"))
	since := time.Now()
	require.Eventually(t, func() bool { // it has reported after that
		s, _ = q.Status(t.Context())
		return s != nil && s.Workers[0].Seen.After(since)
	}, limit, 10*time.Millisecond)
	require.EqualValues(t, 1, asked.Load())

	limitResults(t, nc, -1)
	require.Equal(t, "paid for", (<-stored).Response.Text)
	<-stored
	require.NoFileExists(t, file)
	require.EqualValues(t, 2, asked.Load())
}

// keptFile waits for the one result in the directory.
func keptFile(t *testing.T, folder string) string {
	t.Helper()
	var files []string
	require.Eventually(t, func() bool {
		files, _ = filepath.Glob(filepath.Join(folder, "*", "*.json"))
		return len(files) == 1
	}, limit, time.Millisecond)
	for path, perm := range map[string]fs.FileMode{files[0]: 0o600, filepath.Dir(files[0]): 0o700, folder: 0o700} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, perm, info.Mode().Perm(), path)
	}
	return files[0]
}

// A worker that is killed while it keeps a result leaves it on the disk. No other worker runs the job, and the next
// worker on this machine stores the result.
func TestUnstoredResultOutlivesItsWorker(t *testing.T) {
	t.Parallel()
	s := listen(t)
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	q := open(t, nc, &jetstream.Config{Name: soakConfig.Name, AckWait: time.Second})
	limitResults(t, nc, 1)
	state := t.TempDir()
	f := &fleet{t: t, env: append(os.Environ(), workerVariable+"="+s.ClientURL(), "XDG_STATE_HOME="+state)}
	f.start()
	t.Cleanup(f.stop)
	submit(t, q, job("a"))
	folder := filepath.Join(state, "clichain", "results")
	file := keptFile(t, folder)
	f.over = true // no other worker replaces it
	require.NoError(t, f.runs[0].Process.Kill())
	limitResults(t, nc, -1)

	asked := backend(func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		if req.Messages[0].Content == "prompt of a" {
			t.Error("it was asked again")
		}
		return &clichain.Response{Text: "x"}, nil
	})
	stop := work(t, q, asked, &jetstream.WorkConfig{KeepDir: t.TempDir(), Slots: 2})
	// The job would be delivered again after a second. Jobs in sequence take as long as the machine needs.
	for i, end := 0, time.Now().Add(3*time.Second); time.Now().Before(end); i++ {
		submit(t, q, job(fmt.Sprint("other ", i)))
		require.Eventually(t, func() bool {
			_, err := q.Result(t.Context(), fmt.Sprint("other ", i))
			return err == nil
		}, limit, 50*time.Millisecond)
	}
	stop()

	work(t, q, asked, &jetstream.WorkConfig{KeepDir: folder})
	require.Eventually(t, func() bool {
		r, err := q.Result(t.Context(), "a")
		return err == nil && r.Response.Text == "echo prompt of a"
	}, limit, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		_, err := os.Stat(file)
		d, unread := q.Depth(t.Context())
		return os.IsNotExist(err) && unread == nil && d.Running == 0 && d.Parked == 0
	}, limit, 10*time.Millisecond)
}

// A worker that ends leaves a result that the server does not accept to the next worker.
func TestWorkerEndsWithUnstoredResult(t *testing.T) {
	t.Parallel()
	nc := connectTo(t, 16<<20)
	q := open(t, nc, nil)
	limitResults(t, nc, 1)
	folder := t.TempDir()
	var asked atomic.Int64
	once := backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		asked.Add(1)
		return &clichain.Response{Text: "paid for"}, nil
	})
	stop := work(t, q, once, &jetstream.WorkConfig{KeepDir: folder})
	j := job("a")
	submit(t, q, j)
	file := keptFile(t, folder)
	stop()
	require.FileExists(t, file)
	limitResults(t, nc, -1)

	// Another worker has stored a failure in the meantime; the answer replaces it.
	require.NoError(t, jetstream.StoreFailure(t.Context(), q, j))
	told := make(chan *jetstream.Result, 1)
	work(t, q, once, &jetstream.WorkConfig{KeepDir: folder, OnResult: func(r *jetstream.Result) { told <- r }})
	require.Equal(t, "paid for", (<-told).Response.Text)
	r, err := q.Result(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "paid for", r.Response.Text)
	require.EqualValues(t, 1, asked.Load())
}

// A file that is no result does not stop a worker.
func TestWorkerSkipsDamagedKeptResult(t *testing.T) {
	t.Parallel()
	nc := connectTo(t, 16<<20)
	q := open(t, nc, nil)
	limitResults(t, nc, 1)
	folder := t.TempDir()
	stop := work(t, q, echo(), &jetstream.WorkConfig{KeepDir: folder})
	submit(t, q, job("a"))
	file := keptFile(t, folder)
	stop()
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	limitResults(t, nc, -1)
	var log syncBuffer
	work(t, q, echo(), &jetstream.WorkConfig{KeepDir: folder, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	submit(t, q, job("b"))
	require.Contains(t, collect(t, q, 1), "b")
	require.Contains(t, log.String(), "cannot read a result on the disk")
	require.FileExists(t, file)
}

// An attempt that stored a result and whose reply was lost counts as successful: the result is reported like any
// other.
func TestStoredBefore(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	work(t, q, echo(), &jetstream.WorkConfig{KeepDir: t.TempDir()})
	submit(t, q, job("a"))
	stored, err := q.Wait(t.Context(), "a")
	require.NoError(t, err)
	mine, other := *stored, *stored
	mine.Sequence, other.Worker = 0, "other"
	require.NoError(t, jetstream.StoredBefore(t.Context(), q, &mine))
	require.Equal(t, stored.Sequence, mine.Sequence)
	require.ErrorIs(t, jetstream.StoredBefore(t.Context(), q, &other), jetstream.ErrExists)
}

// A client has removed the result before the worker repeats an attempt whose reply was lost.
func TestRepeatedAttemptStoresNoRemovedResult(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"in the message": "x", "in the object store": strings.Repeat("x", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), nil)
			work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
				return &clichain.Response{Text: text}, nil
			}), &jetstream.WorkConfig{KeepDir: t.TempDir()})
			submit(t, q, job("a"))
			stored, err := q.Wait(t.Context(), "a")
			require.NoError(t, err)
			require.NoError(t, q.Forget(t.Context(), "a"))
			require.NoError(t, jetstream.StoreAgain(t.Context(), q, *stored))
			_, err = q.Result(t.Context(), "a")
			require.ErrorIs(t, err, jetstream.ErrNotFound)
			require.Zero(t, jetstream.Payloads(t.Context(), q))
		})
	}
}
