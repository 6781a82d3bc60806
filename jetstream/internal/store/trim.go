package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// Trim removes the oldest results until all of them fit into the limit.
func (s Cleaner) Trim(ctx context.Context) error {
	excess, payloads, err := s.excess(ctx)
	if err == nil && excess > 0 {
		err = s.dropOldest(ctx, excess, payloads)
	}
	if err != nil {
		return fmt.Errorf("jetstream: remove the oldest results: %w", err)
	}
	return nil
}

// excess returns by how many bytes the results exceed their limit, and the size of each large payload, if it had to
// read those.
func (s Cleaner) excess(ctx context.Context) (excess int64, payloads map[string]int64, err error) {
	info, err := s.Results.Info(ctx)
	if err != nil {
		return 0, nil, err
	}
	all, err := s.objects.Status(ctx)
	if err != nil {
		return 0, nil, err
	}
	limit, size := resultLimitsOf(&info.Config).Bytes, int64(info.State.Bytes)
	if limit == 0 || size+int64(all.Size()) <= limit {
		return 0, nil, nil
	}
	objects, err := s.objects.List(ctx)
	if err != nil && !errors.Is(err, js.ErrNoObjectsFound) {
		return 0, nil, err
	}
	payloads = map[string]int64{}
	for _, object := range objects {
		payloads[object.Name] = int64(object.Size)
		if object.Description == payloadOfResult {
			size += int64(object.Size)
		}
	}
	return size - limit, payloads, nil
}

// dropOldest removes results of so many bytes. The size of a message is that of its JSON, so another call may have to
// remove a few more.
func (s Cleaner) dropOldest(ctx context.Context, size int64, payloads map[string]int64) error {
	last, large := uint64(0), []Message(nil)
	for m, err := range s.Scan(ctx, Scan{HeadersOnly: true}) {
		if err != nil {
			return err
		}
		n, _ := strconv.ParseInt(m.Headers().Get(nats.MsgSize), 10, 64) // the server sets it
		last, size = m.Sequence, size-n
		if name := m.Headers().Get(payloadHeader); name != "" {
			large = append(large, m)
			size -= payloads[name]
		}
		if size <= 0 {
			break
		}
	}
	if last == 0 { // other clients have removed them
		return nil
	}
	if err := s.Results.Purge(ctx, js.WithPurgeSequence(last+1)); err != nil {
		return err
	}
	for _, m := range large {
		if err := s.Discard(ctx, m.Headers()); err != nil {
			return err
		}
	}
	return nil
}
