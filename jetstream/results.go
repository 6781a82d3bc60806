package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/clichain/clichain"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// The headers of a result hold what Status counts, so that it need not read the
// results themselves.
const (
	backendHeader = "Clichain-Backend"
	reasonHeader  = "Clichain-Reason"
	inputHeader   = "Clichain-Input-Tokens"
	outputHeader  = "Clichain-Output-Tokens"
	costHeader    = "Clichain-Cost-Usd"
)

// store writes a result, unless the job has one: then it returns ErrExists.
func (q *Queue) store(ctx context.Context, r *Result) error {
	key := key(r.ID)
	subject := q.answered(key)
	if r.Failure != nil {
		subject = q.failed(key)
	}
	msg, err := q.message(ctx, subject, key, r)
	if err != nil {
		return err
	}
	label(msg.Header, r)
	ack, err := q.js.PublishMsg(ctx, msg, js.WithExpectLastSequenceForSubject(0, q.anyResult(key)))
	if err == nil {
		r.Sequence = ack.Sequence
		return nil
	}
	_ = q.discard(ctx, msg.Header) // else it is swept later
	if conflict(err) {
		return ErrExists
	}
	return fmt.Errorf("jetstream: store the result: %w", err)
}

func label(h nats.Header, r *Result) {
	usage := r.Usage()
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
}

// Usage is what all deliveries of the job have consumed together, as far as it was
// reported. Its cost is nil when none is known.
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

// Result returns what came of a job. The error is [ErrPending] as long as the job waits
// or runs, and [ErrNotFound] where there is no such job. [Queue.Wait] waits.
func (q *Queue) Result(ctx context.Context, id string) (*Result, error) {
	key, pending := key(id), error(nil)
	for range 2 { // a job that is answered between the two looks has its result at the second
		msg, err := last(ctx, q.results, q.anyResult(key))
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
	if err := q.read(ctx, header, data, r); err != nil {
		return nil, err
	}
	r.Sequence = sequence
	return r, nil
}

// Results yields the results with a Sequence above after, in their order, and then
// each one as it comes. The loop ends with ctx, or after an error.
func (q *Queue) Results(ctx context.Context, after uint64) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		q.scan(ctx, scan{filter: q.subject("result.>"), after: after, follow: true}, func(m js.Msg, sequence uint64) bool {
			r, err := q.result(ctx, m.Headers(), m.Data(), sequence)
			if errors.Is(err, errUnreadable) {
				return true // forgotten meanwhile
			}
			if err != nil && ctx.Err() != nil {
				return false
			}
			return yield(r, err) && err == nil
		}, func(err error) { yield(nil, err) })
	}
}

// Dead yields the dead letters: the results that are failures. The loop ends when
// all that were there at its beginning were yielded, or after an error.
func (q *Queue) Dead(ctx context.Context) iter.Seq2[*Result, error] {
	return q.kept(ctx, scan{filter: q.failed("*")})
}

// Kept yields the results with a Sequence above after, in their order. The loop ends
// when all that were there at its beginning were yielded, or after an error.
func (q *Queue) Kept(ctx context.Context, after uint64) iter.Seq2[*Result, error] {
	return q.kept(ctx, scan{filter: q.subject("result.>"), after: after})
}

func (q *Queue) kept(ctx context.Context, s scan) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		q.scan(ctx, s, func(m js.Msg, sequence uint64) bool {
			r, err := q.result(ctx, m.Headers(), m.Data(), sequence)
			if errors.Is(err, errUnreadable) {
				return true
			}
			return yield(r, err) && err == nil
		}, func(err error) { yield(nil, err) })
	}
}

// scan is which results are wanted.
type scan struct {
	filter      string
	after       uint64
	follow      bool // also those that come later
	headersOnly bool
}

// patience is how long to wait for the next message.
func (s scan) patience(ctx context.Context) []js.NextOpt {
	if s.follow {
		return []js.NextOpt{js.NextContext(ctx)}
	}
	return []js.NextOpt{js.NextMaxWait(scanWait)}
}

// scanWait is after how long without a message a scan asks whether there is one left.
const scanWait = 2 * time.Second

// scan gives the messages to see until it says no, and the error that ends it before
// that to fail. That ctx has ended is no error where the scan follows.
func (q *Queue) scan(ctx context.Context, s scan, see func(js.Msg, uint64) bool, fail func(error)) {
	c, err := q.results.OrderedConsumer(ctx, js.OrderedConsumerConfig{
		FilterSubjects: []string{s.filter}, DeliverPolicy: js.DeliverByStartSequencePolicy, OptStartSeq: s.after + 1,
		HeadersOnly: s.headersOnly,
	})
	if err != nil {
		fail(fmt.Errorf("jetstream: %w", err))
		return
	}
	if !s.follow && c.CachedInfo().NumPending == 0 {
		return
	}
	info, err := q.results.Info(ctx)
	if err != nil {
		fail(fmt.Errorf("jetstream: %w", err))
		return
	}
	messages, err := c.Messages()
	if err != nil {
		fail(fmt.Errorf("jetstream: %w", err))
		return
	}
	defer messages.Stop()
	for {
		m, err := messages.Next(s.patience(ctx)...)
		if errors.Is(err, nats.ErrTimeout) && !s.follow && ctx.Err() == nil {
			if left, err := c.Info(ctx); err == nil && left.NumPending == 0 {
				return // somebody has removed the last ones
			}
			continue
		}
		if err != nil {
			if ctx.Err() == nil || !s.follow {
				fail(fmt.Errorf("jetstream: %w", err))
			}
			return
		}
		meta, err := m.Metadata()
		if err != nil {
			fail(fmt.Errorf("jetstream: %w", err))
			return
		}
		if !s.follow && meta.Sequence.Stream > info.State.LastSeq {
			return // it came later
		}
		if !see(m, meta.Sequence.Stream) || !s.follow && meta.NumPending == 0 {
			return
		}
	}
}

// Forget removes the result of a job, after it was written elsewhere. That there is
// none is no error. The id is free then.
func (q *Queue) Forget(ctx context.Context, id string) error {
	msg, err := last(ctx, q.results, q.anyResult(key(id)))
	if err != nil || msg == nil {
		return err
	}
	return q.removeResult(ctx, msg)
}

func (q *Queue) removeResult(ctx context.Context, msg *js.RawStreamMsg) error {
	if err := remove(ctx, q.results, msg.Sequence); err != nil {
		return err
	}
	return q.discard(ctx, msg.Header)
}
