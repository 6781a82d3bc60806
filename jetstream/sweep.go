package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// sweepAge is how old a payload has to be before it may be one that was left behind:
// it is stored before its message is.
const sweepAge = time.Hour

// sweep removes the payloads that no message names, such as those of a worker that
// died between the two writes.
func (q *Queue) sweep(ctx context.Context, now time.Time) error {
	objects, err := q.payloads.List(ctx)
	if errors.Is(err, js.ErrNoObjectsFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("jetstream: sweep: %w", err)
	}
	for _, object := range objects {
		if now.Sub(object.ModTime) < sweepAge {
			continue
		}
		named, err := q.named(ctx, object.Name)
		if err == nil && !named {
			err = q.payloads.Delete(ctx, object.Name)
		}
		if err != nil {
			return fmt.Errorf("jetstream: sweep: %w", err)
		}
	}
	return nil
}

// named reports whether a message names the payload.
func (q *Queue) named(ctx context.Context, payload string) (bool, error) {
	key, _, _ := strings.Cut(payload, ".")
	for _, place := range []struct {
		stream  js.Stream
		subject string
	}{{q.jobs, q.anyJob(key)}, {q.results, q.anyResult(key)}} {
		msg, err := last(ctx, place.stream, place.subject)
		if err != nil {
			return false, err
		}
		if msg != nil && msg.Header.Get(payloadHeader) == payload {
			return true, nil
		}
	}
	return false, nil
}
