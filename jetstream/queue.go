// Package jetstream is a durable queue of requests on NATS JetStream. A job survives the program that submitted it
// and the workers that run it, and has exactly one result. [Embed] runs the server inside the program, with its store
// in a directory and without a socket. With a connection to a cluster, many machines share the same [Queue].
// [Cooldowns] shares the cooldowns of their backends.
//
// The package moves requests and results, and decides whether a failed job is retried. It knows no CLI: a
// clichain.Backend runs the requests.
//
// # Guarantees
//
// A job is not lost once Submit has returned nil, unless the server's store is lost: the embedded server writes to
// the disk before it acknowledges. The servers of a cluster do so with sync_interval: always. A job has one result: a
// compare-and-set writes it before the job leaves the queue. A job with access none or read may run twice after its
// worker died or lost its connection. A job that may change something never runs twice, unless it is Idempotent
// or the worker is Isolated.
package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain/jetstream/internal/classes"
	"github.com/clichain/clichain/jetstream/internal/jsapi"
	"github.com/clichain/clichain/jetstream/internal/store"
	"github.com/nats-io/nats.go"
)

// Config configures a queue. The zero value works. A queue keeps its Replicas and its AckWait.
type Config struct {
	// Name is the name of the queue: letters, digits, "-" and "_". Empty: "default".
	Name string
	// Replicas is the number of servers of a cluster that store each job and result, 1 to 5. Zero: that of the queue, or
	// for a new queue 3, or 1 if there are fewer servers. Open returns a [*ConfigError] if the queue has another number.
	Replicas int
	// AckWait is how long a worker may give no sign of a job before another worker gets it. Zero: that of the queue, or
	// 30 s for a new queue. Minimum: 1 s. Open returns a [*ConfigError] if the queue has another time.
	AckWait time.Duration
	// MaxDeliver is how many deliveries of a job may fail before it becomes a dead letter. Waiting for the end of a
	// limit is no failure. Zero: 5. The queue does not store it: each worker decides with its own.
	MaxDeliver int
	// MaxResultAge and MaxResultBytes bound the results, with the dead letters. The server removes a result at that age,
	// and workers remove the oldest results while all of them take more space. Neither removes a job. Open changes the
	// limits of a queue that has others, for all clients. Zero: those of the queue, or 30 days and a quarter of the
	// store, at most 1 GiB, for a new queue. Minimum: MinResultAge and
	// MinResultBytes.
	MaxResultAge   time.Duration
	MaxResultBytes int64
	// MustExist makes Open and OpenCooldowns create nothing. If there is no such queue, Open returns a
	// [*NoQueueError]; if there are no shared cooldowns, OpenCooldowns returns [ErrNoCooldowns].
	MustExist bool
}

const (
	defaultAckWait    = 30 * time.Second
	defaultMaxDeliver = 5
)

// The least values of Config.MaxResultAge and Config.MaxResultBytes. A result must outlive the redelivery of its job.
const (
	MinResultAge   = time.Hour
	MinResultBytes = 1 << 20
)

var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (c *Config) withDefaults() (Config, error) {
	var out Config
	if c != nil {
		out = *c
	}
	if out.Name == "" {
		out.Name = "default"
	}
	if out.MaxDeliver == 0 {
		out.MaxDeliver = defaultMaxDeliver
	}
	switch {
	case !queueName.MatchString(out.Name):
		return out, fmt.Errorf("jetstream: the queue name %q: use 1 to 64 letters, digits, - and _", out.Name)
	case out.Replicas < 0 || out.Replicas > 5:
		return out, fmt.Errorf("jetstream: %d replicas: use 1 to 5, or 0 for that of the queue", out.Replicas)
	case out.AckWait != 0 && out.AckWait < time.Second:
		return out, fmt.Errorf("jetstream: an AckWait of %v: use a second or more, or 0 for that of the queue", out.AckWait)
	case out.MaxDeliver < 1:
		return out, fmt.Errorf("jetstream: a MaxDeliver of %d: use 1 or more, or 0 for 5", out.MaxDeliver)
	case out.MaxResultAge != 0 && out.MaxResultAge < MinResultAge:
		return out, fmt.Errorf("jetstream: a MaxResultAge of %v: use %v or more, or 0 for that of the queue",
			out.MaxResultAge, MinResultAge)
	case out.MaxResultBytes != 0 && out.MaxResultBytes < MinResultBytes:
		return out, fmt.Errorf("jetstream: a MaxResultBytes of %d: use %d or more, or 0 for that of the queue",
			out.MaxResultBytes, MinResultBytes)
	}
	return out, nil
}

// Queue is a durable queue of jobs and their results. Make it with [Open]. It is safe for concurrent use. It needs no
// Close; its connection belongs to the caller.
type Queue struct {
	cfg          Config
	store        *store.Store
	consumers    *classes.Consumers
	protocol     int           // the latest version that its workers run
	coarsePause  time.Duration // for a refused job whose class has no own consumer
	owners       store.Owners
	surplusPause time.Duration // how often a worker looks for owners with more jobs in the queue than their limit
	limits       limitCache
	queued       queuedCounts
}

const (
	coarsePause  = 10 * time.Second
	surplusPause = 30 * time.Second
)

// Open opens the queue, and creates missing streams. A nil cfg means defaults. The server must be NATS 2.12 or newer.
// Open waits up to 30 s for a cluster without a leader, for example one that is starting.
func Open(ctx context.Context, nc *nats.Conn, cfg *Config) (*Queue, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s, err := store.New(nc, c.Name)
	if err != nil {
		return nil, err
	}
	q := &Queue{
		cfg: c, store: s, owners: store.Owners{Store: s}, protocol: classes.Protocol,
		consumers:   classes.NewConsumers(s, priorityNames(), cmp.Or(c.AckWait, defaultAckWait)),
		coarsePause: coarsePause, surplusPause: surplusPause,
	}
	err = jsapi.WaitForLeader(ctx, nc, q.open)
	if missing, ok := errors.AsType[*NoQueueError](err); ok {
		return nil, missing
	}
	if other, ok := errors.AsType[*ConfigError](err); ok {
		return nil, other
	}
	if err != nil {
		return nil, fmt.Errorf("jetstream: queue %s: %w", c.Name, err)
	}
	return q, nil
}

func (q *Queue) open(ctx context.Context) error {
	if q.cfg.MustExist {
		if err := q.mustExist(ctx); err != nil {
			return err
		}
	}
	return jsapi.WithReplicas(q.cfg.Replicas, q.store.Conn, func(replicas int) error {
		want := store.Options{
			ResultLimits: store.ResultLimits{Age: q.cfg.MaxResultAge, Bytes: q.cfg.MaxResultBytes},
			MustExist:    q.cfg.MustExist,
		}
		if err := q.store.Open(ctx, replicas, want); err != nil {
			return err
		}
		if err := q.consumers.Open(ctx); err != nil {
			return err
		}
		return q.conflict()
	})
}

// conflict returns an error if the queue has another value than the Config. Open changes neither, because running
// workers rely on AckWait, and a new number of replicas copies the streams.
func (q *Queue) conflict() error {
	if has := q.store.Jobs.CachedInfo().Config.Replicas; q.cfg.Replicas != 0 && has != q.cfg.Replicas {
		return &ConfigError{q.cfg.Name, "Replicas", strconv.Itoa(q.cfg.Replicas), strconv.Itoa(has)}
	}
	if has := q.consumers.AckWait; q.cfg.AckWait != 0 && has != q.cfg.AckWait {
		return &ConfigError{q.cfg.Name, "AckWait", q.cfg.AckWait.String(), has.String()}
	}
	return nil
}

func (q *Queue) mustExist(ctx context.Context) error {
	if exists, err := q.store.Exists(ctx); exists || err != nil {
		return err
	}
	queues, err := q.store.Queues(ctx)
	if err != nil || slices.Contains(queues, q.cfg.Name) { // created in the meantime
		return err
	}
	return &NoQueueError{q.cfg.Name, queues}
}

// ConfigError is the error of Open for a queue that exists with another value of a field of Config. It is a plain
// value.
type ConfigError struct {
	Queue, Field string
	Want, Has    string // the value in the Config, and that of the queue
}

// Error names both values.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("jetstream: queue %q: %s is %s, not %s: leave it out to keep that of the queue",
		e.Queue, e.Field, e.Has, e.Want)
}

// NoQueueError is the error of Open for a queue that does not exist, if Config.MustExist is set. It is a plain value.
type NoQueueError struct {
	Name   string   // of the queue
	Queues []string // the existing queues, sorted by name
}

// Error names the queues that exist.
func (e *NoQueueError) Error() string {
	there := "the server has none: the first worker or job creates it"
	if len(e.Queues) > 0 {
		there = `it has "` + strings.Join(e.Queues, `", "`) + `"`
	}
	return fmt.Sprintf("jetstream: there is no queue %q: %s", e.Name, there)
}
