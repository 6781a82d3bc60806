package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream/internal/store"
	"github.com/nats-io/nats.go"
)

// The headers of a result hold what Status counts, so that it need not read the results themselves.
const (
	backendHeader = "Clichain-Backend"
	reasonHeader  = "Clichain-Reason"
	inputHeader   = "Clichain-Input-Tokens"
	outputHeader  = "Clichain-Output-Tokens"
	costHeader    = "Clichain-Cost-Usd"
)

// storeResult writes a result, unless the job has one: then it returns ErrExists.
func (q *Queue) storeResult(ctx context.Context, r *Result) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	sequence, err := q.store.StoreResult(ctx, store.Result{
		Key: store.Key(r.ID), Failed: r.Failure != nil, Header: headerOf(r), Data: data,
	})
	if err == nil {
		r.Sequence = sequence
	}
	return err
}

func headerOf(r *Result) nats.Header {
	h, usage := nats.Header{}, r.Usage()
	if r.Response != nil {
		h.Set(backendHeader, r.Response.Backend)
	} else {
		h.Set(reasonHeader, string(r.Failure.Reason))
	}
	h.Set(inputHeader, strconv.FormatInt(usage.InputTokens, 10))
	h.Set(outputHeader, strconv.FormatInt(usage.OutputTokens, 10))
	if usage.CostUSD != nil {
		h.Set(costHeader, strconv.FormatFloat(*usage.CostUSD, 'g', -1, 64))
	}
	return h
}

// Usage is what all deliveries of the job have consumed together, as far as it was reported. Its cost is nil when
// none is known.
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

// Result returns the result of a job. The error is [ErrPending] as long as the job waits or runs, and [ErrNotFound]
// where there is no such job. [Queue.Wait] waits.
func (q *Queue) Result(ctx context.Context, id string) (*Result, error) {
	key, pending := store.Key(id), error(nil)
	for range 2 { // a job that is answered after the first read has its result at the second
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

// pending is the error of Result for a job without one: ErrPending, or ErrNotFound where there is no such job.
func (q *Queue) pending(ctx context.Context, key string) error {
	msg, err := q.store.LastJob(ctx, key)
	if err != nil {
		return err
	}
	if msg == nil {
		return ErrNotFound
	}
	if due := store.Due(msg); !due.IsZero() {
		return fmt.Errorf("%w: it waits until %s", ErrPending, due.Format(time.RFC3339))
	}
	return ErrPending
}

// The pauses of Wait between two reads.
const (
	waitFirst = 20 * time.Millisecond
	waitMost  = 500 * time.Millisecond
)

// Wait waits until a job has its result, and returns it. The error is [ErrNotFound] where there is no such job, or
// none any more. Where ctx ends before that it is that of ctx, together with the error of the last read if that
// failed: a server that does not answer may come back.
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
		return nil, fmt.Errorf("jetstream: no result of job %q: %w (the last look for it failed: %w)",
			id, context.Cause(ctx), err)
	}
}

// Results yields the results with a Sequence above after, in their order, and then each one as it comes. The loop
// ends with ctx, or after an error.
func (q *Queue) Results(ctx context.Context, after uint64) iter.Seq2[*Result, error] {
	return q.scan(ctx, store.Scan{Filter: q.store.AnyResult("*"), After: after, Follow: true})
}

// Dead yields the dead letters: the results that are failures. The loop ends when all that were there at its
// beginning were yielded, or after an error.
func (q *Queue) Dead(ctx context.Context) iter.Seq2[*Result, error] {
	return q.scan(ctx, store.Scan{Filter: q.store.Failed("*")})
}

// Kept yields the results with a Sequence above after, in their order. The loop ends when all that were there at its
// beginning were yielded, or after an error.
func (q *Queue) Kept(ctx context.Context, after uint64) iter.Seq2[*Result, error] {
	return q.scan(ctx, store.Scan{Filter: q.store.AnyResult("*"), After: after})
}

func (q *Queue) scan(ctx context.Context, want store.Scan) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		for m, err := range q.store.Scan(ctx, want) {
			var r *Result
			if err == nil {
				r, err = q.result(ctx, m.Headers(), m.Data(), m.Sequence)
				if errors.Is(err, store.ErrUnreadable) { // removed meanwhile
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

// Forget removes the result of a job, after it was written elsewhere. That there is none is no error. The id is free
// then.
func (q *Queue) Forget(ctx context.Context, id string) error {
	msg, err := q.store.LastResult(ctx, store.Key(id))
	if err != nil || msg == nil {
		return err
	}
	return q.store.RemoveResult(ctx, msg)
}
