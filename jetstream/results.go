package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/store"
	"github.com/nats-io/nats.go"
)

// storeResult writes a result. It returns ErrExists if the job already has a result.
func (q *Queue) storeResult(ctx context.Context, r *Result) error {
	data, err := r.stored()
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	stored := store.Result{
		Key: store.Key(r.ID), Failed: r.Failure != nil, Data: data,
		Figures: store.Figures{Owner: r.Owner, Usage: r.Usage()},
	}
	if r.Response != nil {
		stored.Backend = r.Response.Backend
	} else {
		stored.Reason = r.Failure.Reason
	}
	if !r.Finished.IsZero() {
		// A later attempt to store the same result must not store it again if a client has removed it by then. The server
		// remembers the identifiers of two minutes.
		stored.MessageID = store.Key(r.ID + " " + r.Worker + " " + r.Finished.Format(time.RFC3339Nano))
	}
	sequence, err := q.store.StoreResult(ctx, stored)
	if err == nil {
		r.Sequence = sequence
	}
	return err
}

// Usage returns the sum of the reported usage of all deliveries. Its cost is nil if no delivery reported a cost.
func (r *Result) Usage() (total clichain.Usage) {
	if r.Response != nil {
		total = r.Response.TotalUsage()
	}
	if r.Failure != nil {
		for _, a := range r.Failure.Attempts {
			total = total.Add(a.Usage)
		}
	}
	for _, d := range r.History {
		total = total.Add(d.Usage)
	}
	return total
}

// Result returns the result of a job. The error is [ErrPending] while the job waits or runs, and [ErrNotFound] if
// there is no such job. [Queue.Wait] waits for the result.
func (q *Queue) Result(ctx context.Context, id string) (*Result, error) {
	key, pending := store.Key(id), error(nil)
	for range 2 { // the second read finds a result that was stored after the first one
		msg, err := q.store.LastResult(ctx, key)
		if err != nil {
			return nil, err
		}
		if msg != nil {
			return q.result(ctx, msg.Header, msg.Data, msg.Sequence)
		}
		if pending = q.pending(ctx, key); !errors.Is(pending, ErrNotFound) {
			break
		}
	}
	return nil, pending
}

func (q *Queue) result(ctx context.Context, header nats.Header, data []byte, sequence uint64) (*Result, error) {
	r := new(Result)
	if err := q.store.Read(ctx, header, data, r); err != nil {
		return nil, err
	}
	r.Sequence = sequence
	return r, nil
}

// pending returns the error of Result for a job without a result: ErrPending, or ErrNotFound if there is no such job.
func (q *Queue) pending(ctx context.Context, key string) error {
	msg, err := q.store.LastJob(ctx, key)
	if err != nil {
		return err
	}
	if msg == nil {
		return fmt.Errorf("%w: no job had this ID, or its result was removed: by a client, after %v, or because the "+
			"results took too much space", ErrNotFound, q.store.Results.CachedInfo().Config.MaxAge)
	}
	if due := store.Due(msg); !due.IsZero() {
		return fmt.Errorf("%w: it waits until %s", ErrPending, due.Format(time.RFC3339))
	}
	return ErrPending
}

// Pauses of Wait between two reads.
const (
	waitFirst = 20 * time.Millisecond
	waitMost  = 500 * time.Millisecond
)

// Wait waits until a job has its result, and returns it. The error is [ErrNotFound] if there is no such job, or if it
// was removed. If ctx ends first, Wait returns the error of ctx, joined with the error of the last read if that
// failed. Wait does not stop at a failed read, because the server may come back.
func (q *Queue) Wait(ctx context.Context, id string) (*Result, error) {
	for pause := waitFirst; ; pause = min(2*pause, waitMost) {
		read, cancel := context.WithTimeout(ctx, writeLimit)
		r, err := q.Result(read, id)
		cancel()
		if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, store.ErrUnreadable) {
			return r, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			continue
		case <-ctx.Done():
			timer.Stop()
		}
		if errors.Is(err, ErrPending) || errors.Is(err, ctx.Err()) {
			return nil, fmt.Errorf("jetstream: no result of job %q: %w", id, context.Cause(ctx))
		}
		return nil, fmt.Errorf("jetstream: no result of job %q: %w (the last read failed: %w)",
			id, context.Cause(ctx), err)
	}
}

// Results yields the results with a Sequence above after, in order, and then each new result. The loop ends with ctx
// or after an error.
func (q *Queue) Results(ctx context.Context, after uint64) iter.Seq2[*Result, error] {
	return q.scan(ctx, store.Scan{After: after, Follow: true})
}

// Dead yields the dead letters: the results of failed jobs. The loop ends after the dead letters that existed at its
// beginning, or after an error.
func (q *Queue) Dead(ctx context.Context) iter.Seq2[*Result, error] {
	return q.scan(ctx, store.Scan{Filter: q.store.Failed("*")})
}

// Kept yields the results with a Sequence above after, in order. The loop ends after the results that existed at its
// beginning, or after an error.
func (q *Queue) Kept(ctx context.Context, after uint64) iter.Seq2[*Result, error] {
	return q.scan(ctx, store.Scan{After: after})
}

func (q *Queue) scan(ctx context.Context, want store.Scan) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		for m, err := range q.store.Scan(ctx, want) {
			var r *Result
			if err == nil {
				r, err = q.result(ctx, m.Headers(), m.Data(), m.Sequence)
				if errors.Is(err, store.ErrUnreadable) { // removed in the meantime
					continue
				}
				if err != nil && want.Follow && ctx.Err() != nil {
					return
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// Forget removes the result of a job, for example after the caller has written it elsewhere. It returns nil if there
// is no result. The ID can then be used again.
func (q *Queue) Forget(ctx context.Context, id string) error {
	msg, err := q.store.LastResult(ctx, store.Key(id))
	if err != nil || msg == nil {
		return err
	}
	return q.store.RemoveResult(ctx, msg)
}
