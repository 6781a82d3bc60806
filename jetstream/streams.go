package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	js "github.com/nats-io/nats.go/jetstream"
)

// The subjects of a queue, below clichain.NAME: a job is at job.CLASS.PRIORITY.KEY,
// or at job.later.PRIORITY.KEY until its time has come. CLASS is that of its needs,
// and ready for a job of the first protocol that any worker may try. A
// result is at result.answered.KEY or result.failed.KEY, and mark.KEY says that a
// job which may change something was begun. KEY stands for the job's id.
func (q *Queue) subject(rest string) string { return "clichain." + q.cfg.Name + "." + rest }

func (q *Queue) place(class string, p Priority, key string) string {
	return q.subject("job." + class + "." + string(p) + "." + key)
}

func (q *Queue) later(p Priority, key string) string {
	return q.subject("job.later." + string(p) + "." + key)
}

// anyJob is where a job of this key can be. What is written there is written on the
// condition of what is there, so that there is never more than one.
func (q *Queue) anyJob(key string) string { return q.subject("job.*.*." + key) }

func (q *Queue) answered(key string) string  { return q.subject("result.answered." + key) }
func (q *Queue) failed(key string) string    { return q.subject("result.failed." + key) }
func (q *Queue) anyResult(key string) string { return q.subject("result.*." + key) }
func (q *Queue) mark(key string) string      { return q.subject("mark." + key) }

// wake is told by who submits a job; nothing of it is stored.
func (q *Queue) wake() string { return q.subject("wake") }

func (q *Queue) streamName(what string) string { return "clichain_" + q.cfg.Name + "_" + what }

// workerMemory is how long a worker that has gone is told of by Status.
const workerMemory = 10 * time.Minute

// make makes what there is not. What there is stays as it is: how many replicas it
// has is for those who run the servers to change.
func (q *Queue) make(ctx context.Context, replicas int) (err error) {
	q.jobs, err = q.stream(ctx, js.StreamConfig{
		Name: q.streamName("jobs"), Subjects: []string{q.subject("job.>")}, Replicas: replicas,
		Retention: js.WorkQueuePolicy, AllowMsgSchedules: true,
	})
	if err != nil {
		return err
	}
	// An older server takes a setting that it does not know, and what is put off would
	// stay there for ever.
	if !q.jobs.CachedInfo().Config.AllowMsgSchedules {
		return fmt.Errorf("stream %s cannot hold jobs until a time: it needs NATS 2.12 or newer, and this server has %s",
			q.streamName("jobs"), q.nc.ConnectedServerVersion())
	}
	if err := q.limitJobs(ctx, replicas); err != nil {
		return err
	}
	if err := q.anchor(ctx); err != nil {
		return fmt.Errorf("stream of jobs: %w", err)
	}
	// Direct reads would come from any server of a cluster, also from one that is late.
	q.results, err = q.stream(ctx, js.StreamConfig{
		Name: q.streamName("results"), Subjects: []string{q.subject("result.>"), q.subject("mark.*")},
		Replicas: replicas, MaxMsgsPerSubject: 1,
	})
	if err != nil {
		return err
	}
	q.payloads, err = openOrMake(
		func() (js.ObjectStore, error) { return q.js.ObjectStore(ctx, q.streamName("payloads")) },
		func() (js.ObjectStore, error) {
			return q.js.CreateObjectStore(ctx, js.ObjectStoreConfig{Bucket: q.streamName("payloads"), Replicas: replicas})
		})
	if err != nil {
		return fmt.Errorf("large payloads: %w", err)
	}
	q.workers, err = openOrMake(
		func() (js.KeyValue, error) { return q.js.KeyValue(ctx, q.streamName("workers")) },
		func() (js.KeyValue, error) {
			return q.js.CreateKeyValue(ctx, js.KeyValueConfig{
				Bucket: q.streamName("workers"), TTL: workerMemory, Storage: js.MemoryStorage, Replicas: replicas,
			})
		})
	if err != nil {
		return fmt.Errorf("workers: %w", err)
	}
	return q.makeTakers(ctx)
}

// anchor puts a message that nobody takes at the beginning of the stream of jobs. A
// server counts the subjects of a whole stream to find a consumer's next message,
// where that would be the first of the stream: 1 ms for 25 000 jobs.
func (q *Queue) anchor(ctx context.Context) error {
	_, err := q.js.Publish(ctx, q.subject("job.anchor"), nil, js.WithExpectLastSequencePerSubject(0))
	if conflict(err) {
		return nil
	}
	return err
}

func (q *Queue) stream(ctx context.Context, cfg js.StreamConfig) (js.Stream, error) {
	s, err := openOrMake(
		func() (js.Stream, error) { return q.js.Stream(ctx, cfg.Name) },
		func() (js.Stream, error) { return q.js.CreateStream(ctx, cfg) })
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", cfg.Name, err)
	}
	return s, nil
}

// openOrMake opens what there is, and else makes it, unless somebody else is faster.
func openOrMake[T any](open, create func() (T, error)) (T, error) {
	v, err := open()
	if err == nil || !isAny(err, js.ErrStreamNotFound, js.ErrBucketNotFound) {
		return v, err
	}
	v, err = create()
	if err != nil && isAny(err, js.ErrStreamNameAlreadyInUse, js.ErrBucketExists) {
		return open()
	}
	return v, err
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// makeTakers makes what workers take jobs of the first protocol from.
func (q *Queue) makeTakers(ctx context.Context) error {
	for _, p := range priorities {
		if err := q.makeTaker(ctx, p, readyClass, nil); err != nil {
			return err
		}
		q.cfg.AckWait = q.takers.get(string(p)).CachedInfo().Config.AckWait
	}
	return q.look(ctx)
}
