package batch

import (
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// executor answers the jobs of a batch, either with the backends of this process or with the workers of another
// server's queue.
type executor interface {
	jobs() *queue
	// start answers jobs until ctx ends. The channel is closed after start has returned its unanswered jobs to the
	// queue.
	start(ctx context.Context) (done <-chan struct{})
	// take records a result. If the end of an earlier run interrupted the job, take retries the job instead.
	take(result *jetstream.Result) error
	// refuse stops the executor from taking more jobs.
	refuse()
	// wait returns when no job runs in this process or when ctx ends.
	wait(ctx context.Context)
	// asking reports whether a call to a backend of this process is in flight.
	asking() bool
	// check returns an error if the queue cannot write to its directory.
	check() error
	// transient reports whether retrying a queue operation that failed with err may succeed.
	transient(err error) bool
	// conclude updates the queue at the end of a run. finished reports that every line has a record.
	conclude(ctx context.Context, finished bool)
	// close stops the backends. It returns the names of their processes that may still run.
	close() (strays []string)
}

const (
	maxRetryTime  = 5 * time.Minute // for an operation of a queue that is unreachable
	minRetryPause = 100 * time.Millisecond
	maxRetryPause = 10 * time.Second
)

// try calls a queue operation, and retries the operation after a transient error.
func try(ctx context.Context, x executor, operation func() error) error {
	pause := minRetryPause
	for end := time.Now().Add(maxRetryTime); ; {
		err := operation()
		switch {
		case err == nil || isReply(err):
			return err
		case !x.transient(err) || time.Now().After(end):
			return explain(x, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause = min(2*pause, maxRetryPause)
	}
}

// isReply reports whether an error concerns the job rather than the queue.
func isReply(err error) bool {
	_, refused := errors.AsType[*clichain.BackendError](err)
	return refused || errors.Is(err, jetstream.ErrExists) || errors.Is(err, jetstream.ErrNotFound) ||
		errors.Is(err, jetstream.ErrPending)
}

// explain returns the cause of a queue error if the queue cannot write to its directory. Otherwise it returns err.
func explain(x executor, err error) error {
	if err == nil {
		return nil
	}
	if cause := x.check(); cause != nil {
		return cause
	}
	return err
}
