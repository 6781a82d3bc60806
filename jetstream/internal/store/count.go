package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	js "github.com/nats-io/nats.go/jetstream"
)

const (
	// countAttempts bounds how often results are counted again while clients remove others.
	countAttempts = 3
	// saveAfter is the number of headers from which it pays to save a summary.
	saveAfter = 500
)

// Counter counts the results of a queue.
type Counter struct{ *Store }

// Counts returns the counts of all results. It reads the saved summary, and the headers of the results that it does not
// have.
func (s Counter) Counts(ctx context.Context) ([]Count, error) {
	sum, err := s.count(ctx)
	if err != nil {
		return nil, fmt.Errorf("jetstream: count the results: %w", err)
	}
	return sum.counts(), nil
}

// Summarize saves the counts of the results, so that other clients need not read their headers.
func (s Counter) Summarize(ctx context.Context) error {
	sum, err := s.count(ctx)
	if err == nil && sum.read >= saveAfter {
		err = s.saveSummary(ctx, sum)
	}
	if err != nil {
		return fmt.Errorf("jetstream: summarize the results: %w", err)
	}
	return nil
}

// count counts all results. The sequences of a stream only increase, so a summary can only have results that
// were removed since. If its sum is the number of messages on the server, it has none of those.
func (s Counter) count(ctx context.Context) (*summary, error) {
	sum, err := s.loadSummary(ctx)
	if err != nil {
		return nil, err
	}
	for range countAttempts {
		info, err := s.Results.Info(ctx)
		if err != nil {
			return nil, err
		}
		if !sum.Stream.Equal(info.Created) {
			sum.Stream, sum.Blocks = info.Created, nil
		}
		if err := s.cutFront(ctx, sum, info.State.FirstSeq); err != nil {
			return nil, err
		}
		if err := s.extend(ctx, sum, info.State.LastSeq); err != nil {
			return nil, err
		}
		missing := sum.results() - int(info.State.Msgs)
		if missing == 0 {
			break
		}
		if err := s.recount(ctx, sum, missing, info.State.LastSeq); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// cutFront removes the results before a sequence, which the server has dropped.
func (s Counter) cutFront(ctx context.Context, sum *summary, first uint64) error {
	sum.Blocks = slices.DeleteFunc(sum.Blocks, func(b block) bool { return b.Last < first })
	if len(sum.Blocks) == 0 || sum.Blocks[0].First >= first {
		return nil
	}
	return s.readAgain(ctx, sum, 0)
}

// extend adds the results after those of the summary.
func (s Counter) extend(ctx context.Context, sum *summary, last uint64) error {
	return s.eachHeader(ctx, sum.last()+1, last, func(sequence uint64, f Figures) {
		sum.add(sequence, f)
		sum.read++
	})
}

// readAgain reads a block again, and removes it if it has no results any more.
func (s Counter) readAgain(ctx context.Context, sum *summary, i int) error {
	var fresh summary
	err := s.eachHeader(ctx, sum.Blocks[i].First, sum.Blocks[i].Last, func(sequence uint64, f Figures) {
		fresh.add(sequence, f)
		sum.read++
	})
	if err == nil {
		sum.Blocks = slices.Replace(sum.Blocks, i, i+1, fresh.Blocks...)
	}
	return err
}

// recount reads the blocks again from which results were removed, the last one first.
func (s Counter) recount(ctx context.Context, sum *summary, missing int, last uint64) error {
	changed, err := s.changed(ctx, sum, bounds{0, len(sum.Blocks), missing, 0}, last)
	for _, i := range slices.Backward(changed) {
		if err == nil {
			err = s.readAgain(ctx, sum, i)
		}
	}
	return err
}

// bounds are blocks from one index to another. At each of the two, the number of results that are missing from there
// to the end is known.
type bounds struct{ from, to, missingFrom, missingTo int }

// changed finds the blocks that lack results, with a question to the server for each half of a range that lacks any.
func (s Counter) changed(ctx context.Context, sum *summary, in bounds, last uint64) ([]int, error) {
	switch {
	case in.from >= in.to || in.missingFrom == in.missingTo:
		return nil, nil
	case in.to-in.from == 1:
		return []int{in.from}, nil
	}
	middle := (in.from + in.to) / 2
	left, err := s.countFrom(ctx, sum.Blocks[middle].First, last)
	if err != nil {
		return nil, err
	}
	missing := -left
	for i := range sum.Blocks[middle:] {
		missing += sum.Blocks[middle+i].results()
	}
	first, err := s.changed(ctx, sum, bounds{in.from, middle, in.missingFrom, missing}, last)
	if err != nil {
		return nil, err
	}
	second, err := s.changed(ctx, sum, bounds{middle, in.to, missing, in.missingTo}, last)
	return append(first, second...), err
}

// countFrom counts the results of a range of sequences. Results that are stored meanwhile may shift the count, and
// then count finds the difference.
func (s Counter) countFrom(ctx context.Context, first, last uint64) (int, error) {
	n, err := s.pending(ctx, js.OrderedConsumerConfig{
		DeliverPolicy: js.DeliverByStartSequencePolicy, OptStartSeq: first, HeadersOnly: true,
	})
	if err != nil {
		return 0, err
	}
	info, err := s.Results.Info(ctx)
	if err != nil {
		return 0, err
	}
	return n - int(info.State.LastSeq-last), nil
}

// Failures counts the results of failed jobs.
func (s Counter) Failures(ctx context.Context) (int, error) {
	n, err := s.pending(ctx, js.OrderedConsumerConfig{FilterSubjects: []string{s.Failed("*")}, HeadersOnly: true})
	if err != nil {
		return 0, fmt.Errorf("jetstream: %w", err)
	}
	return n, nil
}

// pending returns how many results a new consumer would get.
func (s Counter) pending(ctx context.Context, cfg js.OrderedConsumerConfig) (int, error) {
	c, err := s.Results.OrderedConsumer(ctx, cfg)
	if err != nil {
		return 0, err
	}
	info := c.CachedInfo()
	_ = s.Results.DeleteConsumer(ctx, info.Name) // if this fails, the server removes it later
	return int(info.NumPending), nil
}

// eachHeader sees the figures of the results from one sequence to another.
func (s Counter) eachHeader(ctx context.Context, first, last uint64, see func(uint64, Figures)) error {
	if first > last {
		return nil
	}
	want := Scan{After: first - 1, Until: last, HeadersOnly: true}
	return s.scan(ctx, want, func(m Message) bool {
		see(m.Sequence, figuresOf(m.Headers()))
		return true
	})
}

// loadSummary returns the saved summary, or an empty one.
func (s Counter) loadSummary(ctx context.Context) (*summary, error) {
	sum := new(summary)
	msg, err := jsapi.Last(ctx, s.State, s.summary())
	if err != nil || msg == nil {
		return sum, err
	}
	if json.Unmarshal(msg.Data, sum) != nil {
		sum = new(summary)
	}
	sum.revision = msg.Sequence
	return sum, nil
}

// maxSummary bounds the bytes of a saved summary.
const maxSummary = 256 << 10

// saveSummary saves a summary, unless another client has saved one in the meantime. If it is too large, it gets larger
// blocks.
func (s Counter) saveSummary(ctx context.Context, sum *summary) error {
	for size := blockSize; ; size *= 2 {
		sum.compact(size)
		data, err := json.Marshal(sum)
		if err != nil {
			return err
		}
		if len(data) > maxSummary && len(sum.Blocks) > 1 {
			continue
		}
		_, err = s.js.Publish(ctx, s.summary(), data, js.WithExpectLastSequencePerSubject(sum.revision))
		if jsapi.IsConflict(err) {
			return nil
		}
		return err
	}
}
