package store

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	js "github.com/nats-io/nats.go/jetstream"
)

// purgeRequests bounds the requests that one Purge has in flight.
const purgeRequests = 16

// target is a result to remove.
type target struct {
	sequence uint64
	payload  string // its object; empty: none
}

// Purge removes the results that match, and returns their number, also with an error. It leaves the result of a job
// that is in the queue: its worker has yet to acknowledge the job, or a client retries it. match gets the content of a
// result only if content is set.
func (s Cleaner) Purge(ctx context.Context, content bool, match func(Message) (bool, error)) (removed int, err error) {
	targets, front, err := s.targets(ctx, content, match)
	if err == nil {
		removed, err = s.removeTargets(ctx, targets, front)
	}
	if err != nil {
		return removed, fmt.Errorf("jetstream: remove results: %w", err)
	}
	return removed, nil
}

// targets finds the results that match. front is how many of them are before the first result that stays.
func (s Cleaner) targets(
	ctx context.Context, content bool, match func(Message) (bool, error),
) (targets []target, front int, err error) {
	// In this order: the job of a result that exists now has left the queue, or is still there.
	info, err := s.Results.Info(ctx)
	if err != nil || info.State.Msgs == 0 {
		return nil, 0, err
	}
	queued, err := s.queuedKeys(ctx)
	if err != nil {
		return nil, 0, err
	}
	seen, matching := 0, error(nil)
	err = s.scan(ctx, Scan{Until: info.State.LastSeq, HeadersOnly: !content}, func(m Message) (more bool) {
		matches := false
		if !queued[keyIn(m.Subject())] {
			matches, matching = match(m)
		}
		if matches {
			targets = append(targets, target{m.Sequence, m.Headers().Get(payloadHeader)})
		}
		if seen++; len(targets) == seen {
			front = seen
		}
		return matching == nil
	})
	if err == nil {
		err = matching
	}
	return targets, front, err
}

// keyIn returns the key in the subject of a job or result.
func keyIn(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// queuedKeys returns the keys of all jobs in the queue.
func (s Cleaner) queuedKeys(ctx context.Context) (map[string]bool, error) {
	info, err := s.Jobs.Info(ctx, js.WithSubjectFilter(s.anyJob("*")))
	if err != nil {
		return nil, err
	}
	keys := make(map[string]bool, len(info.State.Subjects))
	for subject := range info.State.Subjects {
		keys[keyIn(subject)] = true
	}
	return keys, nil
}

// removeTargets removes the front with one request, and then one target with each request.
func (s Cleaner) removeTargets(ctx context.Context, targets []target, front int) (removed int, err error) {
	if front > 0 {
		if err := s.Results.Purge(ctx, js.WithPurgeSequence(targets[front-1].sequence+1)); err != nil {
			return 0, err
		}
	}
	var next, done atomic.Int64
	var failed sync.Once
	var requests sync.WaitGroup
	limited, stop := context.WithCancel(ctx)
	defer stop()
	for range min(purgeRequests, len(targets)) {
		requests.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(targets) && limited.Err() == nil; i = int(next.Add(1)) - 1 {
				if one := s.removeTarget(limited, targets[i], i < front); one != nil {
					failed.Do(func() { err = one })
					stop()
					return
				}
				done.Add(1)
			}
		})
	}
	requests.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return int(done.Load()), err
}

// removeTarget removes a result and its payload. gone reports that only the payload is left.
func (s Cleaner) removeTarget(ctx context.Context, t target, gone bool) error {
	if !gone {
		if err := jsapi.Remove(ctx, s.Results, t.sequence); err != nil {
			return err
		}
	}
	return s.discard(ctx, t.payload)
}
