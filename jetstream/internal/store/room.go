package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	js "github.com/nats-io/nats.go/jetstream"
)

// ErrFull is the error for a job for which the store has no room.
var ErrFull = errors.New("jetstream: the queue is full")

// jobBytes is in the metadata of the stream of jobs: how many bytes the jobs and large payloads may take. The server
// cannot enforce it: a stream with scheduled messages may only discard its oldest message, which is a job.
const jobBytes = "clichain_job_bytes"

// A client cannot see how large a store is, but a server refuses a stream that reserves more than that. The size that
// it accepts is the largest of those between these two, each half of the one before. Jobs may take half of it, and
// results have the rest.
const (
	mostReserved  = 4 << 30
	leastReserved = 1 << 20
)

// LimitName names the setting of the limit of the jobs.
func (s *Store) LimitName() string {
	return jobBytes + " in the metadata of the stream " + s.Stream("jobs")
}

// limitJobs sets what the jobs may take, where no client has set it. It comes after the stream of jobs was created: a
// server that removes its last stream removes their directory a moment later.
func (s *Store) limitJobs(ctx context.Context, replicas int) error {
	cfg := s.Jobs.CachedInfo().Config
	if cfg.Metadata[jobBytes] != "" {
		return nil
	}
	size, err := s.measure(ctx, replicas)
	if err != nil {
		return fmt.Errorf("room for jobs: %w", err)
	}
	cfg.Metadata = maps.Clone(cfg.Metadata)
	if cfg.Metadata == nil {
		cfg.Metadata = map[string]string{}
	}
	cfg.Metadata[jobBytes] = strconv.FormatInt(size/2, 10)
	if _, err := s.js.UpdateStream(ctx, cfg); err != nil {
		return fmt.Errorf("room for jobs: %w", err)
	}
	return nil
}

// measure finds the free size of the store by a stream that it removes at once.
func (s *Store) measure(ctx context.Context, replicas int) (size int64, err error) {
	name := s.Stream("room")
	_ = s.js.DeleteStream(ctx, name) // of an attempt that was cut off: it reserves what this one looks for
	for size = mostReserved; size >= leastReserved; size /= 2 {
		cfg := js.StreamConfig{Name: name, MaxBytes: size, Replicas: replicas}
		_, err = s.js.CreateStream(ctx, cfg)
		if errors.Is(err, js.ErrStreamNameAlreadyInUse) { // another client measures
			_ = s.js.DeleteStream(ctx, name)
			_, err = s.js.CreateStream(ctx, cfg)
		}
		if jsapi.IsFull(err) {
			continue
		}
		if err != nil && !errors.Is(err, js.ErrStreamNameAlreadyInUse) {
			return 0, err
		}
		if err := s.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, js.ErrStreamNotFound) {
			return 0, err
		}
		return size, nil
	}
	return 0, nil
}

// explainFull explains the error of a write to a full store.
func explainFull(err error) error {
	if !jsapi.IsFull(err) {
		return err
	}
	return fmt.Errorf("%w: the server's store is full (%w): fetch results and remove them, or raise max_file_store "+
		"of the server, or the limit of the account", ErrFull, err)
}

// roomAge bounds how long Reserve relies on the figures of the server.
const roomAge = time.Second

// room is what the server last said of the bytes that the jobs take, with the jobs that were admitted since then.
type room struct {
	mu          sync.Mutex
	used, limit int64
	at          time.Time
}

// reserve admits a job of so many bytes, if there is known to be room for it.
func (r *room) reserve(size int64) bool {
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

// Room returns how many bytes the jobs take, and how many they may take. A limit of 0: only the store has one.
func (s *Store) Room(ctx context.Context) (used, limit int64, err error) {
	info, err := s.Jobs.Info(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("jetstream: %w", err)
	}
	payloads, err := s.objects.Status(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("jetstream: large payloads: %w", err)
	}
	limit, _ = strconv.ParseInt(info.Config.Metadata[jobBytes], 10, 64) // an unreadable limit is none
	return int64(info.State.Bytes) + int64(payloads.Size()), max(limit, 0), nil
}

// Reserve refuses a job for which there is no room with ErrFull, or with ErrExists where it is in the queue. It asks
// the server when it has not done so for a second, and before it refuses a job. Clients that submit at the same time
// do not see each other: the reserve is large enough for them.
func (s *Store) Reserve(ctx context.Context, key string, data []byte) error {
	size := int64(len(data))
	if s.room.reserve(size) {
		return nil
	}
	used, limit, err := s.Room(ctx)
	if err != nil {
		return err
	}
	if s.room.set(used, limit); s.room.reserve(size) {
		return nil
	}
	if job, err := s.LastJob(ctx, key); err != nil || job != nil {
		return cmp.Or(err, ErrExists)
	}
	return fmt.Errorf("%w: a job of %d bytes has no room: the jobs of queue %s and large payloads take %d of at most %d "+
		"bytes: submit it again when workers have answered some, remove dead letters, or raise %s",
		ErrFull, size, s.name, used, limit, s.LimitName())
}
