package batch

import (
	"context"
	"errors"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

// executor answers the jobs of a batch: with the backends of this process, or with the workers of a queue elsewhere.
type executor interface {
	jobs() *queue
	// start answers jobs until ctx ends. done is closed when it has returned its unanswered jobs.
	start(ctx context.Context) (done <-chan struct{})
	// take records a result, or answers the job again if the end of an earlier run interrupted it.
	take(result *jetstream.Result) error
	// refuse makes it take no more jobs.
	refuse()
	// wait returns when no job runs in this process, or ctx ends.
	wait(ctx context.Context)
	// asking reports whether a backend of this process answers.
	asking() bool
	// check returns an error if the queue cannot write to its directory.
	check() error
	// transient reports whether an operation of the queue that failed with err may succeed later.
	transient(err error) bool
	// conclude updates the queue at the end of a run. finished says that every line has its record.
	conclude(ctx context.Context, finished bool)
	// close stops the backends. It returns the processes that may be left of them.
	close() (strays []string)
}

const (
	maxRetryTime  = 5 * time.Minute // for an operation of a queue that cannot be reached
	minRetryPause = 100 * time.Millisecond
	maxRetryPause = 10 * time.Second
)

// try performs an operation of the queue, and retries it after an error that is transient.
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

// isReply reports whether an error says something of the job, and not of the queue.
func isReply(err error) bool {
	_, refused := errors.AsType[*clichain.BackendError](err)
	return refused || errors.Is(err, jetstream.ErrExists) || errors.Is(err, jetstream.ErrNotFound) ||
		errors.Is(err, jetstream.ErrPending)
}

// explain returns the cause of an error of the queue, if the queue cannot write to its directory; else the error.
func explain(x executor, err error) error {
	if err == nil {
		return nil
	}
	if cause := x.check(); cause != nil {
		return cause
	}
	return err
}
