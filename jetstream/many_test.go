package jetstream_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

var (
	many    = flag.Int("many", 500, "how many jobs TestManyJobs has")
	results = flag.Int("results", 5000, "how many results TestStatusOfManyResults has")
)

// concurrency is the number of clients that submit, and the slots of the worker.
const concurrency = 16

// stopwatch prints how long each step took, and its cost per job.
func stopwatch(t *testing.T, step string, n int, do func()) time.Duration {
	t.Helper()
	began := time.Now()
	do()
	took := time.Since(began)
	t.Logf("%-8s %10v, %8v per job", step, took.Round(time.Millisecond), (took / time.Duration(n)).Round(100*time.Nanosecond))
	return took
}

// TestManyJobs submits and answers many small jobs on a server that syncs each write, asks for the status, and purges
// the results. It compares the cost per job with that of its three syncs on the same disk. They are those of the job, of
// its result, and of the removal of the job. Run it with "-run TestManyJobs -v -many 100000 -timeout 30m" for
// the figures.
func TestManyJobs(t *testing.T) {
	dir := t.TempDir()
	s := listen(t, func(o *server.Options) { o.SyncAlways, o.StoreDir, o.MaxPayload = true, dir, 1<<20 })
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	q := open(t, nc, nil)
	samples := min(*many, 2000)
	before := syncTime(t, dir, samples)
	submitted := stopwatch(t, "submit", *many, func() { submitInParallel(t, q, *many) })
	between := syncTime(t, dir, samples)
	worker := open(t, nc, nil)
	answered := make(chan struct{}, *many)
	stop := work(t, worker, noCooldown(echo()), &jetstream.WorkConfig{
		Slots: concurrency, OnResult: func(*jetstream.Result) { answered <- struct{}{} },
	})
	worked := stopwatch(t, "work", *many, func() {
		for range *many {
			<-answered
		}
	})
	stop()
	after := syncTime(t, dir, samples)
	work(t, worker, noCooldown(echo()), nil) // it saves the counts
	var status *jetstream.Status
	require.Eventually(t, func() bool {
		status, err = q.Status(t.Context())
		return err == nil && status.Answers == *many && status.Running == 0
	}, limit, time.Millisecond)
	measureStatus(t, q, *many)
	stopwatch(t, "purge", *many, func() {
		n, err := jetstream.Purge(t.Context(), q, jetstream.PurgeFilter{})
		require.NoError(t, err)
		require.Equal(t, *many, n)
	})
	sync := (before + between + after) / 3
	cost := (submitted + worked) / time.Duration(*many)
	t.Logf("a sync of 1 KiB: %v, %v, %v; a job: %v, %.2f times its three syncs", before, between, after, cost,
		float64(cost)/float64(3*sync))
	if runtime.GOOS == "linux" {
		t.Logf("server, submitters and worker together: %d MiB at most", peak(t, os.Getpid())>>10)
	}
}

// measureStatus prints the time of ten calls of Status, and checks the number of answers.
func measureStatus(t *testing.T, q *jetstream.Queue, answers int) {
	t.Helper()
	stopwatch(t, "status", 10, func() {
		for range 10 {
			s, err := q.Status(t.Context())
			require.NoError(t, err)
			require.Equal(t, answers, s.Answers)
		}
	})
}

// TestStatusOfManyResults measures Status with a worker that saves the counts of the results, and after three results
// were removed. Run it with "-run TestStatusOfManyResults -v -results 1000000 -timeout 30m" for the figures.
func TestStatusOfManyResults(t *testing.T) {
	nc := embed(t)
	q := open(t, nc, &jetstream.Config{MaxResultBytes: 1 << 40})
	server, err := js.New(nc)
	require.NoError(t, err)
	for i := range *results {
		m := nats.NewMsg(fmt.Sprintf("clichain.default.result.answered.%032x", i))
		m.Header.Set("Clichain-Backend", "fake")
		_, err := server.PublishMsgAsync(m, js.WithStallWait(limit))
		require.NoError(t, err)
	}
	<-server.PublishAsyncComplete()
	work(t, q, noCooldown(echo()), nil)
	stopwatch(t, "first", *results, func() { // the worker reads the headers at the same time
		s, err := q.Status(t.Context())
		require.NoError(t, err)
		require.Equal(t, *results, s.Answers)
	})
	require.Eventually(t, func() bool {
		state, err := server.Stream(t.Context(), "clichain_default_state")
		require.NoError(t, err)
		_, err = state.GetLastMsgForSubject(t.Context(), "clichain.default.summary")
		return err == nil
	}, limit+time.Duration(*results)*time.Millisecond, 10*time.Millisecond)
	measureStatus(t, q, *results)
	for i := range 3 {
		stream, err := server.Stream(t.Context(), "clichain_default_results")
		require.NoError(t, err)
		require.NoError(t, stream.DeleteMsg(t.Context(), uint64(*results/4*(i+1))))
	}
	stopwatch(t, "removed", 1, func() {
		s, err := q.Status(t.Context())
		require.NoError(t, err)
		require.Equal(t, *results-3, s.Answers)
	})
}

func submitInParallel(t *testing.T, q *jetstream.Queue, n int) {
	var submitters sync.WaitGroup
	var next atomic.Int64
	for range concurrency {
		submitters.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := q.Submit(t.Context(), job(fmt.Sprint(i))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	submitters.Wait()
}

// syncTime returns the mean time of n times appending a kilobyte to a file and syncing it.
func syncTime(t *testing.T, dir string, n int) time.Duration {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "sync"))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	began := time.Now()
	for range n {
		_, err := f.Write(make([]byte, 1<<10))
		require.NoError(t, err)
		require.NoError(t, f.Sync())
	}
	return time.Since(began) / time.Duration(n)
}
