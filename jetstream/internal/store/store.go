// Package store stores a queue on a JetStream server: jobs, results, marks and large payloads. It knows subjects and
// messages, but not their content.
package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clichain/clichain/jetstream/internal/jsapi"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// ErrExists is the error of a conditional write that found another message.
var ErrExists = errors.New("jetstream: a job of this id exists")

// Store is the streams of one queue.
type Store struct {
	Subjects
	Conn    *nats.Conn
	Jobs    js.Stream   // waiting and running jobs: one message each
	Results js.Stream   // one message for each result, with the limits of the queue
	State   js.Stream   // marks of jobs that may have acted, and the summary of the results
	Workers js.KeyValue // the latest heartbeat of each worker
	js      js.JetStream
	objects js.ObjectStore // large payloads
	space   space
	lockAge time.Duration // from which the lock of a measurement counts as left by a client that was killed
	// followWait is the constant of this name, except in tests.
	followWait time.Duration
}

// workerMemory is how long Status lists a worker after its end.
const workerMemory = 10 * time.Minute

// New prepares the store of a queue. Open opens it.
func New(nc *nats.Conn, queue string) (*Store, error) {
	s := &Store{Subjects: Subjects{queue}, Conn: nc, lockAge: lockAge, followWait: followWait}
	var err error
	if s.js, err = js.New(nc); err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	return s, nil
}

// Queues lists the queues of the server, sorted by name.
func (s *Store) Queues(ctx context.Context) (queues []string, err error) {
	names := s.js.StreamNames(ctx)
	for name := range names.Name() {
		rest, ours := strings.CutPrefix(name, "clichain_")
		if queue, ok := strings.CutSuffix(rest, "_jobs"); ours && ok {
			queues = append(queues, queue)
		}
	}
	slices.Sort(queues)
	return queues, names.Err()
}

// Exists reports whether the server has the queue.
func (s *Store) Exists(ctx context.Context) (bool, error) {
	_, err := s.js.Stream(ctx, s.Stream("jobs"))
	if errors.Is(err, js.ErrStreamNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Options are how to open a queue.
type Options struct {
	ResultLimits
	MustExist bool // do not measure how much the jobs may take, and change no default
}

// Open opens the streams, and creates missing ones. It changes only the limits of the results: the operators of the
// servers change the number of replicas.
func (s *Store) Open(ctx context.Context, replicas int, want Options) (err error) {
	s.Jobs, err = s.stream(ctx, js.StreamConfig{
		Name: s.Stream("jobs"), Subjects: []string{s.subject("job.>")}, Replicas: replicas,
		Retention: js.WorkQueuePolicy, AllowMsgSchedules: true,
	})
	if err != nil {
		return err
	}
	// An older server accepts a setting that it does not know, and would never deliver scheduled jobs.
	if !s.Jobs.CachedInfo().Config.AllowMsgSchedules {
		return fmt.Errorf("stream %s cannot hold jobs until a time: it needs NATS 2.12 or newer, and this server has %s",
			s.Stream("jobs"), s.Conn.ConnectedServerVersion())
	}
	if !want.MustExist {
		if err := s.limitJobs(ctx, replicas); err != nil {
			return err
		}
	}
	if err := s.anchor(ctx); err != nil {
		return fmt.Errorf("stream of jobs: %w", err)
	}
	if err := s.openResults(ctx, replicas, want.ResultLimits, !want.MustExist); err != nil {
		return err
	}
	s.State, err = s.stream(ctx, js.StreamConfig{
		Name: s.Stream("state"), Subjects: []string{s.subject("mark.*"), s.summary()},
		Replicas: replicas, MaxMsgsPerSubject: 1,
	})
	if err != nil {
		return err
	}
	s.objects, err = jsapi.OpenOrCreate(ctx,
		func() (js.ObjectStore, error) { return s.js.ObjectStore(ctx, s.Stream("payloads")) },
		func() (js.ObjectStore, error) {
			return s.js.CreateObjectStore(ctx, js.ObjectStoreConfig{Bucket: s.Stream("payloads"), Replicas: replicas})
		})
	if err != nil {
		return fmt.Errorf("large payloads: %w", err)
	}
	s.Workers, err = jsapi.OpenOrCreate(ctx,
		func() (js.KeyValue, error) { return s.js.KeyValue(ctx, s.Stream("workers")) },
		func() (js.KeyValue, error) {
			return s.js.CreateKeyValue(ctx, js.KeyValueConfig{
				Bucket: s.Stream("workers"), TTL: workerMemory, Storage: js.MemoryStorage, Replicas: replicas,
			})
		})
	if err != nil {
		return fmt.Errorf("workers: %w", err)
	}
	return nil
}

// Bucket opens a bucket that the queue does not own; nil if it cannot be opened.
func (s *Store) Bucket(ctx context.Context, name string) js.KeyValue {
	bucket, err := s.js.KeyValue(ctx, name)
	if err != nil {
		return nil
	}
	return bucket
}

// anchor stores a first message in the stream of jobs, which no consumer takes. Without it, a server counts the
// subjects of the whole stream to find the first job, which takes 1 ms for 25 000 jobs.
func (s *Store) anchor(ctx context.Context) error {
	_, err := s.js.Publish(ctx, s.subject("job.anchor"), nil, js.WithExpectLastSequencePerSubject(0))
	if jsapi.IsConflict(err) {
		return nil
	}
	return err
}

func (s *Store) stream(ctx context.Context, cfg js.StreamConfig) (js.Stream, error) {
	stream, err := jsapi.OpenOrCreate(ctx,
		func() (js.Stream, error) { return s.js.Stream(ctx, cfg.Name) },
		func() (js.Stream, error) { return s.js.CreateStream(ctx, cfg) })
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", cfg.Name, err)
	}
	return stream, nil
}

// publish stores a message if the last message that matches a subject has this sequence; zero means that there is
// none. It returns ErrExists otherwise.
func (s *Store) publish(ctx context.Context, msg *nats.Msg, sequence uint64, subject string) (*js.PubAck, error) {
	ack, err := s.js.PublishMsg(ctx, msg, js.WithExpectLastSequenceForSubject(sequence, subject))
	if err == nil {
		if ack.Duplicate { // an earlier attempt stored the message with its own payload
			_ = s.Discard(ctx, msg.Header)
		}
		return ack, nil
	}
	if _, refused := errors.AsType[*js.APIError](err); refused { // else the message may be stored
		_ = s.Discard(ctx, msg.Header)
	}
	if jsapi.IsConflict(err) {
		return nil, ErrExists
	}
	return nil, err
}
