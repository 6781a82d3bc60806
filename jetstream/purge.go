package jetstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/jetstream/internal/store"
)

// PurgeFilter selects results, answers and dead letters alike, by all of its fields. The zero value selects all
// results. It is a plain value.
type PurgeFilter struct {
	// Owners are the owners of the jobs; an empty text is for jobs without an owner. Empty: any.
	Owners []string
	// IDPrefix is how the IDs of the jobs begin, such as that of a batch. Empty: any. Purge then reads all results as a
	// whole; otherwise it reads only headers.
	IDPrefix string
	// Before is the time before which the results were stored. Zero: any.
	Before time.Time
}

// Purge removes the results that a filter selects, and returns their number. After an error, it has removed so many of
// them. It removes no job: a job that waits or runs stays and gets its result, and a dead letter that is being retried
// stays until its job has begun. A removed dead letter cannot be retried. The IDs can then be used again.
func Purge(ctx context.Context, q *Queue, which PurgeFilter) (removed int, err error) {
	removed, err = store.Cleaner{Store: q.store}.Purge(ctx, which.IDPrefix != "", func(m store.Message) (bool, error) {
		return which.matches(ctx, q, m)
	})
	if err == nil {
		_ = store.Counter{Store: q.store}.Summarize(ctx) // if this fails, a worker does it
	}
	return removed, err
}

func (f *PurgeFilter) matches(ctx context.Context, q *Queue, m store.Message) (bool, error) {
	if len(f.Owners) > 0 && !slices.Contains(f.Owners, m.Owner()) {
		return false, nil
	}
	if !f.Before.IsZero() {
		meta, err := m.Metadata()
		if err != nil || !meta.Timestamp.Before(f.Before) {
			return false, err
		}
	}
	if f.IDPrefix == "" {
		return true, nil
	}
	var result struct{ ID string }
	err := q.store.Read(ctx, m.Headers(), m.Data(), &result)
	if errors.Is(err, store.ErrUnreadable) {
		return false, nil
	}
	return strings.HasPrefix(result.ID, f.IDPrefix), err
}
