package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"
)

const (
	// writeLimit bounds one try to write, and insistLimit all of them: an answer has
	// cost money, and a cluster may need a while to choose a new leader.
	writeLimit  = 10 * time.Second
	insistLimit = 5 * time.Minute
	insistFirst = 50 * time.Millisecond
	insistMost  = 2 * time.Second
)

// insist tries to write until it works, or the error is one that stays.
func (w *worker) insist(write func(context.Context) error) error {
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
		w.Logger.DebugContext(w.writing, "a write is tried again", "error", err)
	})
}
