package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// ErrFull is the error of Submit for a job for which the store has no room: the queue
// keeps the rest of the store for results. The text names the limit.
var ErrFull = errors.New("jetstream: the queue is full")

// jobBytes is in the metadata of the stream of jobs: how many bytes the jobs and large
// payloads may take. The server cannot enforce it: a stream that holds jobs until a time
// may only discard its oldest message, which is a job.
const jobBytes = "clichain_job_bytes"

// A client cannot see how large a store is, but a server refuses a stream that reserves
// more than that. The size that it accepts is the largest of those between these two,
// each half of the one before. Jobs may take half of it, and results have the rest.
const (
	mostReserved  = 4 << 30
	leastReserved = 1 << 20
)

// limitJobs writes down what the jobs may take, where nobody has done that. It comes
// after the stream of jobs was made: a server that removes its last stream removes their
// folder a moment later.
func (q *Queue) limitJobs(ctx context.Context, replicas int) error {
	cfg := q.jobs.CachedInfo().Config
	if cfg.Metadata[jobBytes] != "" || q.cfg.MustExist {
		return nil
	}
	size, err := q.measure(ctx, replicas)
	if err != nil {
		return fmt.Errorf("room for jobs: %w", err)
	}
	cfg.Metadata = maps.Clone(cfg.Metadata)
	if cfg.Metadata == nil {
		cfg.Metadata = map[string]string{}
	}
	cfg.Metadata[jobBytes] = strconv.FormatInt(size/2, 10)
	if _, err := q.js.UpdateStream(ctx, cfg); err != nil {
		return fmt.Errorf("room for jobs: %w", err)
	}
	return nil
}

// measure finds what the store has room for, by a stream that is removed at once. Zero:
// for nothing.
func (q *Queue) measure(ctx context.Context, replicas int) (size int64, err error) {
	name := q.streamName("room")
	for size = mostReserved; size >= leastReserved; size /= 2 {
		cfg := js.StreamConfig{Name: name, MaxBytes: size, Replicas: replicas}
		_, err = q.js.CreateStream(ctx, cfg)
		if errors.Is(err, js.ErrStreamNameAlreadyInUse) { // an earlier attempt was cut off, or another client measures
			_ = q.js.DeleteStream(ctx, name)
			_, err = q.js.CreateStream(ctx, cfg)
		}
		if noRoom(err) {
			continue
		}
		if err != nil && !errors.Is(err, js.ErrStreamNameAlreadyInUse) {
			return 0, err
		}
		if err := q.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, js.ErrStreamNotFound) {
			return 0, err
		}
		return size, nil
	}
	return 0, nil
}

// The error codes of a server whose store is full, or has not the room that a stream
// wants to reserve.
const (
	errCodeAccountFull js.ErrorCode = 10002
	errCodeServerFull  js.ErrorCode = 10023
	errCodeNoStorage   js.ErrorCode = 10047
	errCodeStreamFull  js.ErrorCode = 10077 // also for other failures of a store
)

// noRoom reports whether a server refused to write for want of room.
func noRoom(err error) bool {
	api, ok := errors.AsType[*js.APIError](err)
	if !ok {
		return false
	}
	switch api.ErrorCode {
	case errCodeAccountFull, errCodeServerFull, errCodeNoStorage:
		return true
	case errCodeStreamFull:
		return strings.Contains(api.Description, "maximum bytes")
	case errCodeNoPeers: // a cluster, none of whose servers has as much
		return strings.Contains(api.Description, "insufficient storage")
	}
	return false
}

// refused explains the error of a write that had no room.
func (q *Queue) refused(err error) error {
	if !noRoom(err) {
		return err
	}
	return fmt.Errorf("%w: the server's store is full (%w): fetch results and remove them, or raise max_file_store "+
		"of the server, or the limit of the account", ErrFull, err)
}

// roomAge bounds how long a queue relies on what it knows of its room.
const roomAge = time.Second

// room is what a queue knows of the bytes that its jobs take: what the server said, and the jobs that this queue has
// admitted since then.
type room struct {
	mu          sync.Mutex
	used, limit int64
	at          time.Time
}

// take admits a job of so many bytes, if it is known that there is room for it.
func (r *room) take(size int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) > roomAge || r.limit > 0 && r.used+size > r.limit {
		return false
	}
	r.used += size
	return true
}

func (r *room) set(used, limit int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used, r.limit, r.at = used, limit, time.Now()
}

// jobRoom is how many bytes the jobs take, and how many they may take. A limit of 0
// means that there is none but that of the store.
func (q *Queue) jobRoom(ctx context.Context) (used, limit int64, err error) {
	info, err := q.jobs.Info(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("jetstream: %w", err)
	}
	payloads, err := q.payloads.Status(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("jetstream: large payloads: %w", err)
	}
	limit, _ = strconv.ParseInt(info.Config.Metadata[jobBytes], 10, 64) // what nobody can read is no limit
	return int64(info.State.Bytes) + int64(payloads.Size()), max(limit, 0), nil
}

// admit refuses a job for which there is no room. It asks the server when it has not done so for a second, and before it
// refuses a job. Clients that submit at the same time do not see each other: the reserve is large enough for them.
func (q *Queue) admit(ctx context.Context, e *envelope) error {
	size := int64(len(e.raw))
	if q.room.take(size) {
		return nil
	}
	used, limit, err := q.jobRoom(ctx)
	if err != nil {
		return err
	}
	if q.room.set(used, limit); q.room.take(size) {
		return nil
	}
	if there, err := last(ctx, q.jobs, q.anyJob(key(e.ID))); err != nil || there != nil {
		return cmp.Or(err, ErrExists)
	}
	return fmt.Errorf("%w: a job of %d bytes has no room: the jobs of queue %s and large payloads take %d of at most %d "+
		"bytes: submit it again when workers have answered some, remove dead letters, or raise %s in the metadata "+
		"of the stream %s", ErrFull, size, q.cfg.Name, used, limit, jobBytes, q.streamName("jobs"))
}

// tellRoom tells what the jobs take, and whether results find room.
func (q *Queue) tellRoom(ctx context.Context, s *Status) (err error) {
	if s.JobBytes, s.JobLimit, err = q.jobRoom(ctx); err != nil {
		return err
	}
	if s.JobLimit > 0 && s.JobBytes > s.JobLimit/5*4 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the jobs take %d of at most %d bytes: at the limit the queue takes no "+
			"more jobs, so that results have room: start workers, remove dead letters, or raise %s in the metadata of the "+
			"stream %s", s.JobBytes, s.JobLimit, jobBytes, q.streamName("jobs")))
	}
	for _, w := range s.Workers {
		if w.Unstored > 0 {
			s.Warnings = append(s.Warnings, fmt.Sprintf("worker %s keeps %d %s that the server does not take, and asks nothing "+
				"meanwhile: is the store full? Remove results, or raise max_file_store of the server",
				w.Name, w.Unstored, map[bool]string{true: "result", false: "results"}[w.Unstored == 1]))
		}
	}
	return nil
}
