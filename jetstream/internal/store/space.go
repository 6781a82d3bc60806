package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// ErrFull is the error for a job that the store has no space for.
var ErrFull = errors.New("jetstream: the queue is full")

// jobBytes is a key in the metadata of the stream of jobs: how many bytes the jobs and large payloads may take. The
// server cannot enforce it, because a stream with scheduled messages can only discard its oldest message, which is a
// job.
const jobBytes = "clichain_job_bytes"

// A client cannot read the size of a store, but a server refuses a stream that reserves more than that. These are the
// largest and the smallest size to try; each attempt halves the size. Jobs may take half of the accepted size, and
// results have the rest.
const (
	mostReserved  = 4 << 30
	leastReserved = 1 << 20
)

// LimitName returns the name of the setting that limits the jobs.
func (s *Store) LimitName() string {
	return jobBytes + " in the metadata of the stream " + s.Stream("jobs")
}

// limitJobs sets the limit of the jobs, unless a client has set it. It runs after the stream of jobs was created,
// because a server that removes its last stream removes the directory of the streams a moment later.
func (s *Store) limitJobs(ctx context.Context, replicas int) error {
	if s.Jobs.CachedInfo().Config.Metadata[jobBytes] != "" {
		return nil
	}
	err := jsapi.RetryWhileMeasured(ctx, func() error {
		if limited, err := isLimited(ctx, s.Jobs); limited || err != nil {
			return err
		}
		return s.measureAlone(ctx, replicas)
	})
	if err != nil {
		return fmt.Errorf("space for jobs: %w", err)
	}
	return nil
}

func isLimited(ctx context.Context, jobs js.Stream) (bool, error) {
	info, err := jobs.Info(ctx)
	return err == nil && info.Config.Metadata[jobBytes] != "", err
}

// Streams of a measurement. All queues share the names, so that one measurement does not count the space of another.
const (
	measureStream = "clichain_space"
	measureLock   = "clichain_measuring"
)

// A measurement ends before another client may take over its lock, even if the server is slow.
const (
	measureLimit = 10 * time.Second
	removeLimit  = 5 * time.Second  // for removing the streams of a measurement
	lockAge      = 20 * time.Second // more than the sum of both
)

// measureAlone sets the limit of the jobs while no other client measures. The end of ctx does not interrupt the
// measurement, because it would leave its streams on the server.
func (s *Store) measureAlone(ctx context.Context, replicas int) (err error) {
	limited, stop := context.WithTimeout(context.WithoutCancel(ctx), measureLimit)
	defer stop()
	if err := s.lockMeasure(limited); err != nil {
		return err
	}
	defer func() {
		removal, stop := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
		defer stop()
		if err != nil {
			_ = s.removeStream(removal, measureStream) // report the first error
		}
		err = cmp.Or(err, s.removeStream(removal, measureLock))
	}()
	if known, err := isLimited(limited, s.Jobs); known || err != nil {
		return err
	}
	size, err := s.measure(limited, replicas)
	if err != nil {
		return err
	}
	cfg := s.Jobs.CachedInfo().Config
	if cfg.Metadata == nil {
		cfg.Metadata = map[string]string{}
	}
	cfg.Metadata[jobBytes] = strconv.FormatInt(size/2, 10)
	_, err = s.js.UpdateStream(limited, cfg)
	return err
}

// lockMeasure lets one client measure. It creates a stream: the server refuses another one of this name that has
// another owner. The error is ErrStreamNameAlreadyInUse while another client measures.
func (s *Store) lockMeasure(ctx context.Context) error {
	_, err := s.js.CreateStream(ctx, js.StreamConfig{
		Name: measureLock, Storage: js.MemoryStorage, Metadata: map[string]string{"owner": nuid.Next()},
	})
	if !errors.Is(err, js.ErrStreamNameAlreadyInUse) {
		return err
	}
	if lock, err := s.js.Stream(ctx, measureLock); err == nil {
		if info := lock.CachedInfo(); info.TimeStamp.Sub(info.Created) > s.lockAge {
			_ = s.removeStream(ctx, measureLock) // the next attempt reports a problem
		}
	}
	return err
}

// measure finds the free size of the store with a stream that it removes at once.
func (s *Store) measure(ctx context.Context, replicas int) (size int64, err error) {
	// A measurement that was interrupted may have left the stream, which reserves the space to be measured.
	if err := s.removeStream(ctx, measureStream); err != nil {
		return 0, err
	}
	for size = mostReserved; size >= leastReserved; size /= 2 {
		_, err = s.js.CreateStream(ctx, js.StreamConfig{Name: measureStream, MaxBytes: size, Replicas: replicas})
		if !jsapi.IsFull(err) {
			return size, cmp.Or(err, s.removeStream(ctx, measureStream))
		}
	}
	return 0, nil
}

func (s *Store) removeStream(ctx context.Context, name string) error {
	if err := s.js.DeleteStream(ctx, name); err != nil && !errors.Is(err, js.ErrStreamNotFound) {
		return err
	}
	return nil
}

// explainFull explains the error of a write to a full store.
func explainFull(err error) error {
	if !jsapi.IsFull(err) {
		return err
	}
	return fmt.Errorf("%w: the server's store is full (%w): fetch results and remove them, or raise max_file_store "+
		"of the server, or the limit of the account", ErrFull, err)
}

// spaceAge bounds how long Reserve relies on the server's figures.
const spaceAge = time.Second

// space has the last figure of the server: the bytes that the jobs take, plus the jobs that were admitted since then.
type space struct {
	mu          sync.Mutex
	used, limit int64
	at          time.Time
}

// reserve admits a job of this size, if there is known to be space for it.
func (r *space) reserve(size int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) > spaceAge || r.limit > 0 && r.used+size > r.limit {
		return false
	}
	r.used += size
	return true
}

func (r *space) set(used, limit int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used, r.limit, r.at = used, limit, time.Now()
}

// Space returns how many bytes the jobs take, and how many they may take. A limit of 0 means that only the store
// limits them.
func (s *Store) Space(ctx context.Context) (used, limit int64, err error) {
	info, err := s.Jobs.Info(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("jetstream: %w", err)
	}
	payloads, err := s.objects.Status(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("jetstream: large payloads: %w", err)
	}
	return int64(info.State.Bytes) + int64(payloads.Size()), bytesIn(info.Config.Metadata, jobBytes), nil
}

// Reserve refuses a job with ErrFull if there is no space for it, or with ErrExists if it is in the queue. It asks
// the server if its figures are older than a second, and before each refusal. Clients that submit at the same time do
// not see each other's jobs; the reserve is large enough for them.
func (s *Store) Reserve(ctx context.Context, key string, data []byte) error {
	size := int64(len(data))
	if s.space.reserve(size) {
		return nil
	}
	used, limit, err := s.Space(ctx)
	if err != nil {
		return err
	}
	if s.space.set(used, limit); s.space.reserve(size) {
		return nil
	}
	if job, err := s.LastJob(ctx, key); err != nil || job != nil {
		return cmp.Or(err, ErrExists)
	}
	return fmt.Errorf("%w: no space for a job of %d bytes: the jobs of queue %s take %d of at most %d bytes: "+
		"submit it again after workers have answered some jobs, remove dead letters, or raise %s",
		ErrFull, size, s.name, used, limit, s.LimitName())
}
