package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go"
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

// scanWait is how long a scan waits for a message before it checks whether one is left.
const scanWait = 2 * time.Second

// Scan yields the results in the order of their sequences, then the error that ended it. With Follow, the end of ctx
// is no error.
func (s *Store) Scan(ctx context.Context, want Scan) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		if err := s.scan(ctx, want, func(m Message) bool { return yield(m, nil) }); err != nil {
			yield(Message{}, fmt.Errorf("jetstream: %w", err))
		}
	}
}

func (s *Store) scan(ctx context.Context, want Scan, see func(Message) bool) error {
	cfg := js.OrderedConsumerConfig{
		DeliverPolicy: js.DeliverByStartSequencePolicy, OptStartSeq: want.After + 1, HeadersOnly: want.HeadersOnly,
	}
	if want.Filter != "" {
		cfg.FilterSubjects = []string{want.Filter}
	}
	c, err := s.Results.OrderedConsumer(ctx, cfg)
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
	timeout := js.NextMaxWait(scanWait)
	if want.Follow {
		timeout = js.NextContext(ctx)
	}
	for {
		m, err := messages.Next(timeout)
		switch {
		case want.Follow && err != nil && ctx.Err() != nil:
			return nil
		case errors.Is(err, nats.ErrTimeout) && !want.Follow && ctx.Err() == nil:
			if left, err := c.Info(ctx); err == nil && left.NumPending == 0 {
				return nil // another client has removed the last results
			}
			continue
		case err != nil:
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		if !want.Follow && meta.Sequence.Stream > want.Until {
			return nil
		}
		last := !want.Follow && (meta.NumPending == 0 || meta.Sequence.Stream == want.Until)
		if !see(Message{m, meta.Sequence.Stream}) || last {
			return nil
		}
	}
}
