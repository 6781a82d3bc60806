package jetstream_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clichain/clichain/internal/history"
	"github.com/clichain/clichain/jetstream"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

var historyJobs = flag.Int("history-jobs", 60, "how many jobs TestOneResultIsLinearizable has")

// queueOperation is one operation on a job: submit, read or write. A write has the text of the result.
type queueOperation struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Value string `json:"value,omitempty"`
}

// queueOutcome is the result of an operation: done, exists, pending or missing. A read that is done has the text.
type queueOutcome struct {
	Kind  string `json:"kind"`
	Value string `json:"value,omitempty"`
}

type queueHistory []history.Operation[queueOperation, queueOutcome]

var historyConfig = &jetstream.Config{Name: "history", AckWait: time.Second, MaxDeliver: 500}

// submitHistory submits each job, as several clients do at the same time.
func submitHistory(ctx context.Context, q *jetstream.Queue, l *history.Log) error {
	for i := range *historyJobs {
		id := fmt.Sprint(i)
		end := l.Begin(queueOperation{Kind: "submit", ID: id})
		switch err := q.Submit(ctx, job(id)); {
		case err == nil:
			end(queueOutcome{Kind: "done"})
		case errors.Is(err, jetstream.ErrExists):
			end(queueOutcome{Kind: "exists"})
		default:
			return err
		}
	}
	return nil
}

// readHistory reads the result of a job once.
func readHistory(ctx context.Context, q *jetstream.Queue, l *history.Log, id string) error {
	end := l.Begin(queueOperation{Kind: "read", ID: id})
	r, err := q.Result(ctx, id)
	switch {
	case err == nil && r.Response != nil:
		end(queueOutcome{Kind: "done", Value: r.Response.Text})
	case err == nil:
		end(queueOutcome{Kind: "done", Value: "failure: " + r.Failure.Message})
	case errors.Is(err, jetstream.ErrPending):
		end(queueOutcome{Kind: "pending"})
	case errors.Is(err, jetstream.ErrNotFound):
		end(queueOutcome{Kind: "missing"})
	default:
		return err
	}
	return nil
}

// Workers are killed or lose their connection for longer than a lease, most of them while they write a result. Several
// clients submit the same jobs and read the results. An order of all operations explains what each of them returned, with one result for each job.
func TestOneResultIsLinearizable(t *testing.T) {
	t.Parallel()
	s := listen(t)
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	q := open(t, nc, historyConfig)
	path := filepath.Join(t.TempDir(), "history")
	l := history.New(path)
	processes := recordRun(t, q, l, append(os.Environ(),
		workerVariable+"="+s.ClientURL(), historyVariable+"="+path, "XDG_STATE_HOME="+t.TempDir()))
	for i := range *historyJobs {
		require.NoError(t, readHistory(t.Context(), q, l, fmt.Sprint(i)))
	}
	operations, err := history.Read[queueOperation, queueOutcome](path)
	require.NoError(t, err)
	unfinished := 0
	for _, o := range operations {
		if o.Output == nil {
			unfinished++
		}
	}
	t.Logf("%d operations on %d jobs in %d worker processes, %d operations without an end",
		len(operations), *historyJobs, processes, unfinished)
	requireLinearizable(t, operations)
	planted := append(operations, secondResult(operations))
	require.NotEmpty(t, violations(planted), "a planted second result")
}

// recordRun submits jobs, reads results and runs worker processes until each job has its result.
func recordRun(t *testing.T, q *jetstream.Queue, l *history.Log, env []string) (processes int64) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*limit+time.Duration(*historyJobs)*time.Second)
	defer cancel()
	ends, end := context.WithCancel(ctx)
	var clients, background sync.WaitGroup
	errs := make(chan error, 8)
	for range 3 {
		clients.Go(func() { errs <- submitHistory(ctx, q, l) })
	}
	for range 2 {
		background.Go(func() {
			for ends.Err() == nil {
				if err := readHistory(ctx, q, l, fmt.Sprint(rand.IntN(*historyJobs))); err != nil {
					errs <- err
					return
				}
				time.Sleep(rand.N(2 * time.Millisecond))
			}
		})
	}
	var started atomic.Int64
	for range 4 {
		background.Go(func() {
			for ends.Err() == nil {
				cmd := exec.CommandContext(ends, os.Args[0])
				cmd.Env, cmd.Stderr = env, os.Stderr
				_ = cmd.Run() // it kills itself
				started.Add(1)
			}
		})
	}
	clients.Wait()
	for i := range *historyJobs {
		_, err := q.Wait(ctx, fmt.Sprint(i))
		require.NoError(t, err)
	}
	end()
	background.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	return started.Load()
}
