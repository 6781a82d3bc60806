package store

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// A queue gets the default limits when it is created. Later clients change only the limits that they name.
func TestResultLimits(t *testing.T) {
	t.Parallel()
	s := newStore(t, 16<<20)
	for _, step := range []struct {
		name string
		want Options
		has  ResultLimits
	}{
		{"a new queue has the defaults", Options{}, ResultLimits{maxResultAge, 4 << 20}},
		{"a client changes both", Options{ResultLimits: ResultLimits{time.Hour, 2 << 20}}, ResultLimits{time.Hour, 2 << 20}},
		{"a client without wishes changes none", Options{}, ResultLimits{time.Hour, 2 << 20}},
		{"a client changes one", Options{ResultLimits: ResultLimits{Bytes: 1 << 30}}, ResultLimits{time.Hour, 1 << 30}},
		{"also one that creates nothing", Options{ResultLimits: ResultLimits{Age: 2 * time.Hour}, MustExist: true},
			ResultLimits{2 * time.Hour, 1 << 30}},
	} {
		require.NoError(t, s.Open(t.Context(), 1, step.want), step.name)
		require.Equal(t, step.has, resultLimitsOf(&s.Results.CachedInfo().Config), step.name)
	}
}

// The server drops old results, also those of failed jobs. Jobs that wait stay, and Sweep removes the payloads.
func TestAgeLimit(t *testing.T) {
	t.Parallel()
	s := newStore(t, 0)
	require.NoError(t, s.Open(t.Context(), 1, Options{ResultLimits: ResultLimits{Age: 200 * time.Millisecond}}))
	require.NoError(t, s.Add(t.Context(), Job{Group: Group{Priority: "normal"}, Class: ReadyClass, Key: Key("job")}))
	large := bytes.Repeat([]byte("x"), 2*maxInline)
	for i, failed := range []bool{false, true} {
		_, err := s.StoreResult(t.Context(), Result{Key: Key(fmt.Sprint(i)), Failed: failed, Data: large})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		info, err := s.Results.Info(t.Context())
		return err == nil && info.State.Msgs == 0
	}, time.Minute, 10*time.Millisecond)
	job, err := s.LastJob(t.Context(), Key("job"))
	require.NoError(t, err)
	require.NotNil(t, job)
	require.NoError(t, Cleaner{s}.Sweep(t.Context(), time.Now()))
	require.NoError(t, Cleaner{s}.Sweep(t.Context(), time.Now().Add(2*sweepAge)))
	_, err = s.objects.List(t.Context())
	require.ErrorIs(t, err, js.ErrNoObjectsFound)
}

// Trim removes the oldest results until the others fit, large payloads included. It leaves jobs and their payloads.
func TestTrim(t *testing.T) {
	t.Parallel()
	s := newStore(t, 0)
	const limit = 8 << 20
	require.NoError(t, s.Open(t.Context(), 1, Options{ResultLimits: ResultLimits{Bytes: limit}}))
	require.NoError(t, s.Add(t.Context(), Job{
		Group: Group{Priority: "normal"}, Class: ReadyClass, Key: Key("job"), Data: make([]byte, 2*limit),
	}))
	const results = 24
	for i := range results {
		data := make([]byte, 400<<10)
		if i%2 == 0 {
			data = make([]byte, 600<<10) // in the object store
		}
		_, err := s.StoreResult(t.Context(), Result{Key: Key(fmt.Sprint(i)), Data: data})
		require.NoError(t, err)
	}
	removed, err := Cleaner{s}.Trim(t.Context())
	require.NoError(t, err)
	space, err := s.ResultSpace(t.Context(), 0)
	require.NoError(t, err)
	require.LessOrEqual(t, space.Used, int64(limit))
	info, err := s.Results.Info(t.Context())
	require.NoError(t, err)
	require.InDelta(t, limit/(500<<10), info.State.Msgs, 2)
	require.EqualValues(t, results, info.State.LastSeq, "the newest result is left")
	require.EqualValues(t, results-removed, info.State.Msgs)
	objects, err := s.objects.List(t.Context())
	require.NoError(t, err)
	require.InDelta(t, info.State.Msgs/2+1, len(objects), 1, "those of the results that are left, and that of the job")
	job, err := s.LastJob(t.Context(), Key("job"))
	require.NoError(t, err)
	_, err = s.Content(t.Context(), job.Header, job.Data)
	require.NoError(t, err)
	removed, err = Cleaner{s}.Trim(t.Context())
	require.NoError(t, err)
	require.Zero(t, removed)
	again, err := s.Results.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, info.State.Msgs, again.State.Msgs, "there was nothing to remove")
}

// A worker logs how many results it has removed.
func TestKeepLogsRemovedResults(t *testing.T) {
	t.Parallel()
	s := newStore(t, 0)
	require.NoError(t, s.Open(t.Context(), 1, Options{ResultLimits: ResultLimits{Bytes: 1 << 20}}))
	for i := range 4 {
		_, err := s.StoreResult(t.Context(), Result{Key: Key(fmt.Sprint(i)), Data: make([]byte, 300<<10)})
		require.NoError(t, err)
	}
	log, writer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	var kept sync.WaitGroup
	kept.Go(func() { Cleaner{s}.Keep(ctx, slog.New(slog.NewTextHandler(writer, nil))) })
	line, err := bufio.NewReader(log).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "removed=1\n")
	require.NoError(t, log.Close())
	cancel()
	kept.Wait()
}

// Sweep removes the mark of a job that was dropped, unless its worker may still run it.
func TestSweepOfMarks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		job, worker bool // exists
		age         time.Duration
		stays       bool
	}{
		{"dropped, and its worker is lost", false, false, 2 * sweepAge, false},
		{"dropped while it runs", false, true, 2 * sweepAge, true},
		{"waits for another worker", true, false, 2 * sweepAge, true},
		{"new", false, false, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			if test.job {
				require.NoError(t, s.Add(t.Context(), Job{Group: Group{Priority: "normal"}, Class: ReadyClass, Key: Key("a")}))
			}
			if test.worker {
				_, err := s.Workers.Put(t.Context(), Key("w"), nil)
				require.NoError(t, err)
			}
			_, err := s.Begin(t.Context(), Key("a"), Mark{Worker: "w"})
			require.NoError(t, err)
			require.NoError(t, Cleaner{s}.Sweep(t.Context(), time.Now().Add(test.age)))
			mark, err := s.Begun(t.Context(), Key("a"))
			require.NoError(t, err)
			require.Equal(t, test.stays, mark != nil)
		})
	}
}
