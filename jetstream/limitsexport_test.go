package jetstream

import (
	"context"
	"fmt"
	"time"
)

// HoldSlot takes a slot of an owner as a worker does, and does not extend it.
func HoldSlot(ctx context.Context, q *Queue, owner string, limit int) error {
	slots, err := q.owners.AcquireSlots(ctx, owner, 1, limit, q.consumers.AckWait)
	if err == nil && len(slots) == 0 {
		err = fmt.Errorf("%s has no free slot", owner)
	}
	return err
}

// EndSurplusEvery makes the workers of this queue look for jobs above a limit so often.
func EndSurplusEvery(q *Queue, pause time.Duration) { q.surplusPause = pause }
