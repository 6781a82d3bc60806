package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// beginning is what the mark of a job says: who began it, and when.
type beginning struct {
	Worker string    `json:"worker"`
	At     time.Time `json:"at"`
	ID     string    `json:"id"` // of the mark itself
}

// begin marks a job that may change something, before it runs. Where a worker has
// begun it before, and did not take the mark back, it returns that mark instead. It
// may be called again with the same mark.
func (q *Queue) begin(ctx context.Context, key string, mark beginning) (earlier *beginning, err error) {
	data, err := json.Marshal(mark)
	if err != nil {
		return nil, err
	}
	_, err = q.js.Publish(ctx, q.mark(key), data, js.WithExpectLastSequencePerSubject(0))
	if err == nil {
		return nil, nil
	}
	if !conflict(err) {
		return nil, fmt.Errorf("jetstream: mark the job: %w", err)
	}
	msg, err := last(ctx, q.results, q.mark(key))
	if err != nil {
		return nil, err
	}
	earlier = new(beginning)
	if msg != nil {
		_ = json.Unmarshal(msg.Data, earlier) // without it nobody is named
	}
	if earlier.ID == mark.ID {
		return nil, nil
	}
	return earlier, nil
}

// unmark says that a job which was begun is known to have changed nothing, or is
// finished.
func (q *Queue) unmark(ctx context.Context, key string) error {
	if err := q.results.Purge(ctx, js.WithPurgeSubject(q.mark(key))); err != nil {
		return fmt.Errorf("jetstream: take back the mark of the job: %w", err)
	}
	return nil
}
