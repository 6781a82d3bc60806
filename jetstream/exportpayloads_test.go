package jetstream

import (
	"context"
	"time"

	"github.com/clichain/clichain/jetstream/internal/store"
)

// LeavePayload stores a payload that no message names.
func LeavePayload(ctx context.Context, q *Queue, id string) error {
	_, err := objects(ctx, q).PutBytes(ctx, store.Key(id)+".left", make([]byte, 100))
	return err
}

func Sweep(ctx context.Context, q *Queue, now time.Time) error {
	return store.Cleaner{Store: q.store}.Sweep(ctx, now)
}
