package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/store"
)

const (
	// writeLimit bounds one attempt to write, and retryLimit all attempts, because a cluster may need a while to
	// elect a new leader. A result has no such limit; see resultWriter.
	writeLimit = 10 * time.Second
	retryLimit = 5 * time.Minute
	retryFirst = 50 * time.Millisecond
	retryMost  = 2 * time.Second
	retryLog   = time.Minute // minimum time between two logs of a failure
)

// writer writes for a worker until ctx ends.
type writer struct {
	ctx context.Context
	log *slog.Logger
}

// retry writes until the write succeeds or fails with ErrExists.
func (w *writer) retry(write func(context.Context) error) error { return w.retryFor(retryLimit, write) }

// retryFor is retry with another limit of all attempts.
func (w *writer) retryFor(limit time.Duration, write func(context.Context) error) error {
	var logged time.Time
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(retryFirst), backoff.WithMaxInterval(retryMost),
		backoff.WithMaxElapsedTime(limit))
	return backoff.RetryNotify(func() error {
		attempt, done := context.WithTimeout(w.ctx, writeLimit)
		defer done()
		err := write(attempt)
		if errors.Is(err, ErrExists) {
			return backoff.Permanent(err)
		}
		return err
	}, backoff.WithContext(pause, w.ctx), func(err error, _ time.Duration) {
		if time.Since(logged) >= retryLog {
			logged = time.Now()
			w.log.WarnContext(w.ctx, "a write failed and is retried", "error", err)
		}
	})
}

const (
	// firstStore bounds the first attempt to store a result. Until then the result is only in memory.
	firstStore = 2 * time.Second
	// storeMost is the longest pause between two attempts to store a result.
	storeMost = 5 * time.Second
)

// errSpooled is the error for a result that the worker has left on the disk.
var errSpooled = errors.New("jetstream: the result is kept on the disk")

// resultWriter stores the results of a worker. A result that the server does not accept has cost money, so it goes to
// the spool, and the worker takes no more jobs until the server accepts it. If the worker ends first, the next worker
// with the same spool stores it.
type resultWriter struct {
	*writer
	q        *Queue
	spool    spool
	running  context.Context
	onResult func(*Result)
	unstored atomic.Int64 // results that the server has not accepted
}

// store stores the result, however long it takes. It calls hold if that takes longer than firstStore. ErrExists: the
// job already has a result. errSpooled: the worker ends, and the result is on the disk.
func (w *resultWriter) store(s spooledResult, hold func()) error {
	r := s.Result
	err := w.attempt(r, firstStore)
	if refused, ok := errors.AsType[*clichain.BackendError](err); ok { // it is too large for a queue
		r.Response = nil
		r.Failure = &Failure{Reason: clichain.ReasonOutputLimit, Message: refused.Error()}
		err = w.attempt(r, firstStore)
	}
	if err == nil || errors.Is(err, ErrExists) {
		return err
	}
	w.unstored.Add(1)
	defer w.unstored.Add(-1)
	hold()
	file, failed := w.spool.write(s)
	w.log.WarnContext(w.ctx, "cannot store a result: the worker takes no jobs until it can",
		"id", r.ID, "file", file, "error", err)
	if failed != nil {
		w.log.ErrorContext(w.ctx, "a result is only in memory: it is lost if this worker ends now",
			"id", r.ID, "error", failed)
	}
	return w.retryStore(r, file)
}

// retryStore retries until the result is stored or the worker ends.
func (w *resultWriter) retryStore(r *Result, file string) error {
	until := w.ctx
	if file != "" {
		until = w.running // the next worker continues
	}
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(retryFirst),
		backoff.WithMaxInterval(storeMost), backoff.WithMaxElapsedTime(0))
	err := backoff.Retry(func() error {
		err := w.attempt(r, writeLimit)
		if errors.Is(err, ErrExists) {
			err = w.replaceFailure(w.ctx, r)
		}
		if errors.Is(err, ErrExists) {
			err = w.storedBefore(w.ctx, r)
		}
		if errors.Is(err, ErrExists) {
			return backoff.Permanent(err)
		}
		return err
	}, backoff.WithContext(pause, until))
	switch {
	case err != nil && !errors.Is(err, ErrExists) && file != "":
		return fmt.Errorf("%w: %s", errSpooled, file)
	case err != nil && !errors.Is(err, ErrExists):
		return err
	}
	if file != "" {
		_ = os.Remove(file) // if this fails, the next worker finds that the job has a result
	}
	w.log.InfoContext(w.ctx, "a result from the disk is stored", "id", r.ID)
	return err
}

func (w *resultWriter) attempt(r *Result, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(w.ctx, limit)
	defer cancel()
	return w.q.storeResult(ctx, r)
}

// storeSpooled stores the results of earlier workers.
func (w *resultWriter) storeSpooled(ctx context.Context) {
	files, err := w.spool.files()
	if err != nil || len(files) == 0 {
		return
	}
	w.log.WarnContext(ctx, "storing the results of an earlier worker first",
		"results", len(files), "folder", string(w.spool))
	w.unstored.Add(int64(len(files)))
	for _, file := range files {
		w.storeFile(ctx, file)
		w.unstored.Add(-1)
	}
}

func (w *resultWriter) storeFile(ctx context.Context, file string) {
	s, err := readSpooled(file)
	if errors.Is(err, os.ErrNotExist) {
		return // its own worker has stored it
	}
	if err != nil {
		w.log.ErrorContext(ctx, "cannot read a result on the disk", "file", file, "error", err)
		return
	}
	stored := w.retryStore(s.Result, file)
	if stored != nil && !errors.Is(stored, ErrExists) {
		return // the worker ends
	}
	if err := w.retry(func(ctx context.Context) error { return w.removeJob(ctx, s) }); err != nil {
		w.log.WarnContext(ctx, "cannot remove a job that has its result", "id", s.Result.ID, "error", err)
	}
	if stored == nil {
		w.onResult(s.Result)
	}
}

// storedBefore returns nil if an earlier attempt without a reply has stored the result. ErrExists: the job has
// another result.
func (w *resultWriter) storedBefore(ctx context.Context, r *Result) error {
	stored, err := w.q.Result(ctx, r.ID)
	if err != nil {
		return err
	}
	if stored.Worker != r.Worker || !stored.Finished.Equal(r.Finished) {
		return ErrExists
	}
	r.Sequence = stored.Sequence
	return nil
}

// replaceFailure replaces a failure with an answer, after another worker has recorded the job as lost. ErrExists: the
// job has an answer, or r is none.
func (w *resultWriter) replaceFailure(ctx context.Context, r *Result) error {
	stored, err := w.q.store.LastFailure(ctx, store.Key(r.ID))
	if err != nil {
		return err
	}
	if stored == nil || r.Failure != nil || isCanceled(stored) {
		return ErrExists
	}
	if err := w.q.store.RemoveResult(ctx, stored); err != nil {
		return err
	}
	return w.q.storeResult(ctx, r)
}

// removeJob removes a job that has a result, if its message is still the one that the worker received.
func (w *resultWriter) removeJob(ctx context.Context, s spooledResult) error {
	key := store.Key(s.Result.ID)
	if s.MayAct {
		if err := w.q.store.Unmark(ctx, key); err != nil {
			return err
		}
	}
	msg, err := w.q.store.LastJob(ctx, key)
	if err != nil || msg == nil || msg.Sequence != s.Sequence {
		return err
	}
	return w.q.store.RemoveJob(ctx, msg)
}
