package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"
)

const (
	// writeLimit bounds one try to write, and insistLimit all of them: a cluster may need a
	// while to choose a new leader. A result has no such limit; see storeSurely.
	writeLimit  = 10 * time.Second
	insistLimit = 5 * time.Minute
	insistFirst = 50 * time.Millisecond
	insistMost  = 2 * time.Second
	insistTell  = time.Minute // the log has a failure no more often
)

// insist tries to write until it works, or the error is one that stays.
func (w *worker) insist(write func(context.Context) error) error {
	var told time.Time
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(insistFirst), backoff.WithMaxInterval(insistMost),
		backoff.WithMaxElapsedTime(insistLimit))
	return backoff.RetryNotify(func() error {
		try, done := context.WithTimeout(w.writing, writeLimit)
		defer done()
		err := write(try)
		if errors.Is(err, ErrExists) {
			return backoff.Permanent(err)
		}
		return err
	}, backoff.WithContext(pause, w.writing), func(err error, _ time.Duration) {
		if time.Since(told) >= insistTell {
			told = time.Now()
			w.Logger.WarnContext(w.writing, "a write failed, and is tried again", "error", err)
		}
	})
}
