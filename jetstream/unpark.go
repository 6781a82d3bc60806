package jetstream

import (
	"context"
	"errors"
	"slices"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// unpark puts the jobs that wait for the end of a limit where the first worker takes them that can. Workers of the
// first protocol put them off until that time.
func (q *Queue) unpark(ctx context.Context) error {
	sequence := uint64(1)
	for ctx.Err() == nil {
		msg, err := q.jobs.GetMsg(ctx, sequence, js.WithGetMsgSubject(q.subject("job.later.>")))
		if errors.Is(err, js.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		sequence = msg.Sequence + 1
		data, err := q.content(ctx, msg.Header, msg.Data)
		var e envelope
		if err != nil || e.decode(data, q.latest) != nil || len(e.History) == 0 {
			continue // a worker finds out when its time has come
		}
		if why := e.History[len(e.History)-1]; !slices.Contains(limits, why.Reason) || why.Until.IsZero() {
			continue
		}
		err = q.postpone(ctx, e, msg.Sequence, time.Time{})
		if err == nil {
			err = q.discard(ctx, msg.Header)
		}
		if err != nil && !errors.Is(err, ErrExists) {
			return err
		}
	}
	return nil
}
