package jetstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func TestJobIsAnswered(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	var started, finished sync.Map
	work(t, q, echo(), &jetstream.WorkConfig{
		Slots:    3,
		OnStart:  func(j *jetstream.Job) { started.Store(j.ID, true) },
		OnResult: func(r *jetstream.Result) { finished.Store(r.ID, true) },
	})
	for i := range 20 {
		submit(t, q, job(fmt.Sprintf("id %d.*>", i)))
	}
	for id, r := range collect(t, q, 20) {
		require.Equal(t, "echo prompt of "+id, r.Response.Text)
		require.Nil(t, r.Failure)
		require.Nil(t, r.Job)
		require.Empty(t, r.History)
		_, ok := started.Load(id)
		require.True(t, ok)
	}
	one, err := q.Result(t.Context(), "id 7.*>")
	require.NoError(t, err)
	require.Equal(t, "fake", one.Response.Backend)
	_, err = q.Result(t.Context(), "nobody")
	require.ErrorIs(t, err, jetstream.ErrNotFound)
}

// Submit refuses the ID of a job that is in the queue, in any state, or has a result, with any priority.
func TestSameIDTwice(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	submit(t, q, job("a"))
	high := job("a")
	high.Priority = jetstream.PriorityHigh
	require.ErrorIs(t, q.Submit(t.Context(), high), jetstream.ErrExists)

	running, answer := make(chan struct{}), make(chan struct{})
	stop := work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		close(running)
		<-answer
		return &clichain.Response{Text: "x"}, nil
	}), &jetstream.WorkConfig{Grace: limit})
	<-running
	require.ErrorIs(t, q.Submit(t.Context(), high), jetstream.ErrExists)
	close(answer)
	collect(t, q, 1)
	require.ErrorIs(t, q.Submit(t.Context(), high), jetstream.ErrExists)
	stop()

	require.NoError(t, q.Forget(t.Context(), "a"))
	require.NoError(t, q.Forget(t.Context(), "a"))
	submit(t, q, high)
}

func TestPriorities(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	for i, p := range []jetstream.Priority{jetstream.PriorityLow, "", jetstream.PriorityHigh, jetstream.PriorityLow, jetstream.PriorityHigh} {
		j := job(fmt.Sprint(i))
		j.Priority = p
		submit(t, q, j)
	}
	var order []string
	work(t, q, echo(), &jetstream.WorkConfig{OnStart: func(j *jetstream.Job) { order = append(order, j.ID) }})
	collect(t, q, 5)
	require.Equal(t, []string{"2", "4", "1", "0", "3"}, order)
}

func TestInvalidJobs(t *testing.T) {
	q := open(t, embed(t), nil)
	for _, test := range []struct {
		name, field string
		job         jetstream.Job
	}{
		{"no id", "id", jetstream.Job{Request: clichain.Prompt("x")}},
		{"long id", "id", jetstream.Job{ID: strings.Repeat("x", 513), Request: clichain.Prompt("x")}},
		{"no text", "id", jetstream.Job{ID: "\xff", Request: clichain.Prompt("x")}},
		{"no message", "messages", jetstream.Job{ID: "x"}},
		{"unknown priority", "priority", jetstream.Job{ID: "x", Priority: "urgent", Request: clichain.Prompt("x")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := q.Submit(t.Context(), test.job)
			var be *clichain.BackendError
			require.ErrorAs(t, err, &be)
			require.Equal(t, test.field, be.Option)
			require.NotEmpty(t, be.Message)
		})
	}
}

func TestInvalidConfig(t *testing.T) {
	nc := embed(t)
	for _, cfg := range []jetstream.Config{
		{Name: "a.b"}, {Name: strings.Repeat("a", 65)}, {Replicas: -1}, {Replicas: 6}, {AckWait: time.Millisecond}, {MaxDeliver: -1},
		{MaxResultAge: time.Minute}, {MaxResultAge: -time.Hour}, {MaxResultBytes: 1}, {MaxResultBytes: -1 << 30},
	} {
		_, err := jetstream.Open(t.Context(), nc, &cfg)
		require.Error(t, err, "%+v", cfg)
	}
	q := open(t, nc, nil)
	require.Error(t, q.Work(t.Context(), echo(), &jetstream.WorkConfig{Slots: -1}))
}

// Open refuses a stream of a server without schedules, because it would never deliver a postponed job.
func TestStreamWithoutSchedules(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	stream, err := js.New(nc)
	require.NoError(t, err)
	_, err = stream.CreateStream(t.Context(), js.StreamConfig{
		Name: "clichain_old_jobs", Subjects: []string{"clichain.old.job.>"}, Retention: js.WorkQueuePolicy,
	})
	require.NoError(t, err)
	_, err = jetstream.Open(t.Context(), nc, &jetstream.Config{Name: "old"})
	require.ErrorContains(t, err, "NATS 2.12 or newer")
}

// Payloads above the limit of a message go to the object store, and are removed when nothing uses them.
func TestLargePayloads(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	large := strings.Repeat("x", 3<<20)
	j := job("large")
	j.Request = clichain.Prompt(large)
	submit(t, q, j)
	require.ErrorIs(t, q.Submit(t.Context(), j), jetstream.ErrExists)
	work(t, q, echo(), nil)
	require.Equal(t, "echo "+large, collect(t, q, 1)["large"].Response.Text)
	require.NoError(t, q.Forget(t.Context(), "large"))
	require.Eventually(t, func() bool { return jetstream.Payloads(t.Context(), q) == 0 }, limit, 10*time.Millisecond)
}

// Sweep removes old payloads that a worker has left behind, and no others.
func TestSweep(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	large := job("large")
	large.Request = clichain.Prompt(strings.Repeat("x", 2<<20))
	submit(t, q, large)
	require.NoError(t, jetstream.LeavePayload(t.Context(), q, "other"))
	require.NoError(t, jetstream.Sweep(t.Context(), q, time.Now()))
	require.Equal(t, 2, jetstream.Payloads(t.Context(), q))
	require.NoError(t, jetstream.Sweep(t.Context(), q, time.Now().Add(2*time.Hour)))
	require.Equal(t, 1, jetstream.Payloads(t.Context(), q))
}

// Only the payloads contain the request: subjects and headers are visible to others.
func TestSubjectsAndHeadersHideTheRequest(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	j := job("id-of-somebody")
	j.Request.Metadata = map[string]string{"user": "somebody"}
	submit(t, q, j)
	work(t, q, echo(), nil)
	collect(t, q, 1)
	for _, line := range jetstream.Labels(t.Context(), q) {
		require.NotContains(t, line, "prompt of")
		require.NotContains(t, line, "echo")
		require.NotContains(t, line, "somebody")
	}
}

// The store survives the end of the server: the next server answers the waiting jobs.
func TestQueueSurvives(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for round := range 2 {
		server, err := jetstream.Embed(folder)
		require.NoError(t, err)
		nc, err := server.Connect()
		require.NoError(t, err)
		q := open(t, nc, nil)
		if round == 0 {
			submit(t, q, job("a"), job("b"))
		} else {
			stop := work(t, q, echo(), nil)
			require.Len(t, collect(t, q, 2), 2)
			stop()
		}
		nc.Close()
		require.NoError(t, server.Close())
	}
}

func TestFolderIsLocked(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "store")
	server, err := jetstream.Embed(folder)
	require.NoError(t, err)
	info, err := os.Stat(folder)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
	_, err = jetstream.Embed(folder)
	var locked *jetstream.LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, os.Getpid(), locked.PID)
	require.Contains(t, err.Error(), fmt.Sprintf("process %d (%s)", os.Getpid(), filepath.Base(os.Args[0])))
	require.NoError(t, server.Close())
	again, err := jetstream.Embed(folder)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

// Embed refuses a directory with other files, and does not change it.
func TestEmbedRefusesDirectoryWithOtherFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.Chmod(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "thesis.txt"), nil, 0o600))
	_, err := jetstream.Embed(folder)
	require.ErrorContains(t, err, "thesis.txt")
	info, err := os.Stat(folder)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), info.Mode().Perm())
}

// Embed makes a readable directory private before it writes to it.
func TestEmbedMakesDirectoryPrivate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.Chmod(folder, 0o755))
	server, err := jetstream.Embed(folder)
	require.NoError(t, err)
	defer server.Close()
	info, err := os.Stat(folder)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
}

func TestResultSurvivesJSON(t *testing.T) {
	q := open(t, embed(t), &jetstream.Config{MaxDeliver: 1})
	work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{Reason: clichain.ReasonExit, ExitCode: 3, Message: "no"}
	}), nil)
	submit(t, q, job("a"))
	r := collect(t, q, 1)["a"]
	data, err := json.Marshal(r)
	require.NoError(t, err)
	var back jetstream.Result
	require.NoError(t, json.Unmarshal(data, &back))
	back.Sequence = r.Sequence
	require.Equal(t, r.Failure.Reason, back.Failure.Reason)
	require.Equal(t, r.Job.Request, back.Job.Request)
	require.True(t, r.Finished.Equal(back.Finished))
}

// A stored job that its consumer does not count yet is not parked.
func TestStatusParkedHaveATime(t *testing.T) {
	t.Parallel()
	nc := embed(t)
	q := open(t, nc, nil)
	_, err := nc.Request("clichain.default.job.ready.uncounted.a", nil, limit)
	require.NoError(t, err)
	d, err := q.Depth(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, d.Parked, "what the server's counts say")
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Zero(t, s.Parked)
	require.Zero(t, s.NextDue)
}
