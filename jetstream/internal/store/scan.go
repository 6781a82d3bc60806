package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// Scan selects the results to read.
type Scan struct {
	Filter      string // a subject; empty: all results, which costs the server less than a filter
	After       uint64 // the sequence before the first
	Until       uint64 // the sequence of the last; zero: of the last result when the scan begins
	Follow      bool   // continue with results that are stored later
	HeadersOnly bool
}

// Message is a result that a scan found.
type Message struct {
	js.Msg
	Sequence uint64
}

// Owner returns the owner of the result's job.
func (m *Message) Owner() string { return m.Headers().Get(ownerHeader) }

// A scan waits so long for a message before it asks the server again. For results that are stored later, it waits
// longer than the client does for two heartbeats of the server, because the client repairs what these show.
const (
	scanWait   = 2 * time.Second
	followWait = time.Minute
)

// Scan yields the results in the order of their sequences, then the error that ended it. With Follow, the end of ctx
// is no error.
func (s *Store) Scan(ctx context.Context, want Scan) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		if err := s.scan(ctx, want, func(m Message) bool { return yield(m, nil) }); err != nil {
			yield(Message{}, fmt.Errorf("jetstream: %w", err))
		}
	}
}

// scan reads with one consumer, and continues with another one if that stalls: a server that restarts may forget what a
// client has requested. If that one stalls, too, it waits longer, because the server may be slow.
func (s *Store) scan(ctx context.Context, want Scan, see func(Message) bool) error {
	first := scanWait
	if want.Follow {
		first = s.followWait
	}
	wait := first
	for {
		after := want.After
		if err := s.scanPart(ctx, &want, wait, see); !errors.Is(err, errStalled) {
			return err
		}
		wait = min(2*wait, followWait)
		if want.After > after {
			wait = first
		}
	}
}

// errStalled means that a consumer delivers nothing, although the server may have results for it.
var errStalled = errors.New("the consumer stalls")

// scanPart scans until a consumer stalls. It sets want.After to the sequence of the last result that it saw.
func (s *Store) scanPart(ctx context.Context, want *Scan, wait time.Duration, see func(Message) bool) error {
	c, err := want.consumer(ctx, s.Results)
	if err != nil || !want.Follow && c.CachedInfo().NumPending == 0 {
		return err
	}
	if want.Until == 0 && !want.Follow {
		info, err := s.Results.Info(ctx)
		if err != nil {
			return err
		}
		want.Until = info.State.LastSeq
	}
	messages, err := c.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for {
		m, err := next(ctx, messages, wait)
		switch {
		case err == nil:
		case want.Follow && ctx.Err() != nil:
			return nil
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			if !want.Follow {
				return errStalled // or another client has removed the last results, and the next consumer has none
			}
			if info, err := c.Info(ctx); err == nil && info.NumPending > 0 {
				return errStalled
			}
			continue
		default:
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		if !want.Follow && meta.Sequence.Stream > want.Until {
			return nil
		}
		want.After = meta.Sequence.Stream
		last := !want.Follow && (meta.NumPending == 0 || want.After == want.Until)
		if !see(Message{m, want.After}) || last {
			return nil
		}
	}
}

// consumer makes a consumer of the results after want.After.
func (want *Scan) consumer(ctx context.Context, results js.Stream) (js.Consumer, error) {
	cfg := js.OrderedConsumerConfig{
		DeliverPolicy: js.DeliverByStartSequencePolicy, OptStartSeq: want.After + 1, HeadersOnly: want.HeadersOnly,
	}
	if want.Filter != "" {
		cfg.FilterSubjects = []string{want.Filter}
	}
	return results.OrderedConsumer(ctx, cfg)
}

// next waits for a message. The error is [context.DeadlineExceeded] if none comes in time.
func next(ctx context.Context, messages js.MessagesContext, wait time.Duration) (js.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return messages.Next(js.NextContext(ctx))
}
