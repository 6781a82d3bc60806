package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/clichain/clichain"
	js "github.com/nats-io/nats.go/jetstream"
)

// A result that the server does not take has cost money. The worker writes it to its
// disk, takes no more jobs, and stores it as soon as the server takes it. Where the
// worker ends before that, the next one with the same folder stores it.

const (
	// holdTime is how long the server gives a job to nobody else, counted from the last
	// sign of the worker that keeps its result.
	holdTime = time.Hour
	// firstStore bounds the first attempt to store a result: until it is over, the result is
	// in memory alone.
	firstStore = 2 * time.Second
	// unstoredMost is the longest pause between two attempts to store a result.
	unstoredMost = 5 * time.Second
)

// errKept is the error for a result that the worker leaves on the disk.
var errKept = errors.New("jetstream: the result is kept on the disk")

// storeSurely stores the result, however long it takes. ErrExists: the job has one
// already. errKept: the worker ends, and the result is on the disk.
func (w *worker) storeSurely(d *delivery, r *Result) error {
	err := w.storeOnce(r, firstStore)
	if refused, ok := errors.AsType[*clichain.BackendError](err); ok { // it is too large for a queue
		r.Response = nil
		r.Failure = &Failure{Reason: clichain.ReasonOutputLimit, Message: refused.Error()}
		err = w.storeOnce(r, firstStore)
	}
	if err == nil || errors.Is(err, ErrExists) {
		return err
	}
	w.unstored.Add(1)
	defer w.unstored.Add(-1)
	d.signs.hold()
	kept := keptResult{Result: r, Sequence: d.sequence, MayAct: d.mayAct()}
	file, failed := w.keepResult(key(r.ID), kept)
	w.Logger.WarnContext(w.writing, "a result cannot be stored: no more jobs are taken until it is",
		"id", r.ID, "file", file, "error", err)
	if failed != nil {
		w.Logger.ErrorContext(w.writing, "a result is in memory alone, and lost if this worker ends now",
			"id", r.ID, "error", failed)
	}
	return w.storeLater(r, file)
}

// storeLater tries until the result is stored, or the worker ends.
func (w *worker) storeLater(r *Result, file string) error {
	until := w.writing
	if file != "" {
		until = w.running // the next worker goes on
	}
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(insistFirst),
		backoff.WithMaxInterval(unstoredMost), backoff.WithMaxElapsedTime(0))
	err := backoff.Retry(func() error {
		err := w.storeOnce(r, writeLimit)
		if errors.Is(err, ErrExists) {
			err = w.q.replaceFailure(w.writing, r)
		}
		if errors.Is(err, ErrExists) {
			err = w.q.storedBefore(w.writing, r)
		}
		if errors.Is(err, ErrExists) {
			return backoff.Permanent(err)
		}
		return err
	}, backoff.WithContext(pause, until))
	switch {
	case err != nil && !errors.Is(err, ErrExists) && file != "":
		return fmt.Errorf("%w: %s", errKept, file)
	case err != nil && !errors.Is(err, ErrExists):
		return err
	}
	if file != "" {
		_ = os.Remove(file) // else the next worker finds that the job has a result
	}
	w.Logger.InfoContext(w.writing, "a result that was kept is stored", "id", r.ID)
	return err
}

func (w *worker) storeOnce(r *Result, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(w.writing, limit)
	defer cancel()
	return w.q.store(ctx, r)
}

// storedBefore finds that an attempt whose answer was lost has stored the result.
// ErrExists: the job has another one.
func (q *Queue) storedBefore(ctx context.Context, r *Result) error {
	there, err := q.Result(ctx, r.ID)
	if err != nil {
		return err
	}
	if there.Worker != r.Worker || !there.Finished.Equal(r.Finished) {
		return ErrExists
	}
	r.Sequence = there.Sequence
	return nil
}

// replaceFailure stores an answer in place of a failure: another worker has taken this
// one for lost meanwhile. ErrExists: there is an answer, or this is none.
func (q *Queue) replaceFailure(ctx context.Context, r *Result) error {
	there, err := last(ctx, q.results, q.failed(key(r.ID)))
	if err != nil {
		return err
	}
	if there == nil || r.Failure != nil {
		return ErrExists
	}
	if err := q.removeResult(ctx, there); err != nil {
		return err
	}
	return q.store(ctx, r)
}

// storeKept stores what workers before this one have left, before it takes jobs.
func (w *worker) storeKept(ctx context.Context) {
	if w.folder == "" {
		return
	}
	files, err := filepath.Glob(filepath.Join(w.folder, "*.json"))
	if err != nil || len(files) == 0 {
		return
	}
	w.Logger.WarnContext(ctx, "results of a worker before this one are stored first",
		"results", len(files), "folder", w.folder)
	w.unstored.Add(int64(len(files)))
	for _, file := range files {
		w.storeFile(ctx, file)
		w.unstored.Add(-1)
	}
}

func (w *worker) storeFile(ctx context.Context, file string) {
	var kept keptResult
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return // its own worker has stored it
	}
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil || kept.Result == nil {
		w.Logger.ErrorContext(ctx, "a result that was kept cannot be read", "file", file, "error", err)
		return
	}
	stored := w.storeLater(kept.Result, file)
	if stored != nil && !errors.Is(stored, ErrExists) {
		return // the worker ends
	}
	if err := w.insist(func(ctx context.Context) error { return w.q.settle(ctx, kept) }); err != nil {
		w.Logger.WarnContext(ctx, "a job that has its result stays in the queue", "id", kept.Result.ID, "error", err)
	}
	if stored == nil {
		w.OnResult(kept.Result)
	}
}

// settle takes a job that has its result from the queue, if it is still the message
// that the worker had.
func (q *Queue) settle(ctx context.Context, kept keptResult) error {
	key := key(kept.Result.ID)
	if kept.MayAct {
		if err := q.unmark(ctx, key); err != nil {
			return err
		}
	}
	msg, err := last(ctx, q.jobs, q.anyJob(key))
	if err != nil || msg == nil || msg.Sequence != kept.Sequence {
		return err
	}
	if err := remove(ctx, q.jobs, msg.Sequence); err != nil {
		return err
	}
	return q.discard(ctx, msg.Header)
}

// signs tell the server that a job is being worked on.
type signs struct {
	m    js.Msg
	q    *Queue
	held atomic.Bool
}

// give tells it once. The next sign may get through.
func (s *signs) give() {
	if !s.held.Load() {
		_ = s.m.InProgress()
		return
	}
	// The client takes a message that was refused for settled, and this one is not.
	_ = s.q.nc.Publish(s.m.Reply(), []byte(`-NAK {"delay": `+strconv.FormatInt(int64(holdTime), 10)+`}`))
}

// hold has the server give the job to nobody else for holdTime after the last sign.
func (s *signs) hold() {
	s.held.Store(true)
	s.give()
}
