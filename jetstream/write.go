package jetstream

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v4"
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
