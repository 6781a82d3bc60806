package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// Trim removes the oldest results until all of them fit into the limit, and returns their number.
func (s Cleaner) Trim(ctx context.Context) (removed int, err error) {
	space, err := s.ResultSpace(ctx, 1)
	if excess := space.Used - space.Limits.Bytes; err == nil && space.Limits.Bytes > 0 && excess > 0 {
		removed, err = s.dropOldest(ctx, excess, space.payloads)
	}
	if err != nil {
		return removed, fmt.Errorf("jetstream: remove the oldest results: %w", err)
	}
	return removed, nil
}

// ResultSpace is how much space the results of a queue take.
type ResultSpace struct {
	Used     int64 // bytes, with large payloads
	Limits   ResultLimits
	payloads map[string]int64 // the size of each large payload, if they were read
}

// ResultSpace returns the space of the results. Up to a share of the limit, Used includes the large payloads of jobs,
// because telling them apart means reading a message for each payload.
func (s *Store) ResultSpace(ctx context.Context, share float64) (r ResultSpace, err error) {
	info, err := s.Results.Info(ctx)
	if err != nil {
		return r, err
	}
	all, err := s.objects.Status(ctx)
	if err != nil {
		return r, err
	}
	r.Limits, r.Used = resultLimitsOf(&info.Config), int64(info.State.Bytes)
	if most := r.Used + int64(all.Size()); float64(most) <= share*float64(r.Limits.Bytes) || r.Limits.Bytes == 0 {
		r.Used = most
		return r, nil
	}
	objects, err := s.objects.List(ctx)
	if err != nil && !errors.Is(err, js.ErrNoObjectsFound) {
		return r, err
	}
	r.payloads = map[string]int64{}
	for _, object := range objects {
		r.payloads[object.Name] = int64(object.Size)
		if object.Description == payloadOfResult {
			r.Used += int64(object.Size)
		}
	}
	return r, nil
}

// dropOldest removes results of so many bytes, and returns their number. The size of a message is that of its JSON, so
// another call may have to remove a few more.
func (s Cleaner) dropOldest(ctx context.Context, size int64, payloads map[string]int64) (removed int, err error) {
	last, large := uint64(0), []Message(nil)
	for m, err := range s.Scan(ctx, Scan{HeadersOnly: true}) {
		if err != nil {
			return 0, err
		}
		removed++
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
		return 0, nil
	}
	if err := s.Results.Purge(ctx, js.WithPurgeSequence(last+1)); err != nil {
		return 0, err
	}
	for _, m := range large {
		if err := s.Discard(ctx, m.Headers()); err != nil {
			return removed, err
		}
	}
	return removed, nil
}
