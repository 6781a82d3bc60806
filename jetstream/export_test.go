package jetstream

import (
	"context"
	"fmt"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// Payloads counts what is in the object store.
func Payloads(ctx context.Context, q *Queue) int {
	list, err := q.payloads.List(ctx)
	if err != nil {
		return 0
	}
	return len(list)
}

// LeavePayload stores a payload that no message names.
func LeavePayload(ctx context.Context, q *Queue, id string) error {
	_, err := q.payloads.PutBytes(ctx, key(id)+".left", make([]byte, 100))
	return err
}

func Sweep(ctx context.Context, q *Queue, now time.Time) error { return q.sweep(ctx, now) }

// Labels are the subjects and headers of all messages.
func Labels(ctx context.Context, q *Queue) (lines []string) {
	for _, stream := range []js.Stream{q.jobs, q.results} {
		for sequence := uint64(1); ; sequence++ {
			msg, err := stream.GetMsg(ctx, sequence, js.WithGetMsgSubject(q.subject(">")))
			if err != nil {
				break
			}
			lines = append(lines, msg.Subject+fmt.Sprint(msg.Header))
			sequence = msg.Sequence
		}
	}
	return lines
}

// BeginRetry is the first step of Retry.
func BeginRetry(ctx context.Context, q *Queue, job Job, sequence uint64) error {
	return q.add(ctx, envelope{Job: job, Replaces: sequence})
}
