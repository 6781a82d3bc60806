package jetstream

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// Config sets how a queue works. The zero value works. Everybody who opens a queue
// gives the same: it is kept in the queue's streams.
type Config struct {
	// Name is the queue's: letters, digits, "-" and "_". Empty: "default".
	Name string
	// Replicas is on how many servers of a cluster each job and result is. Zero: 3,
	// or 1 where there are fewer servers.
	Replicas int
	// AckWait is how long a worker may give no sign of a job before it goes to
	// another one. Zero: 30 s.
	AckWait time.Duration
	// MaxDeliver is how many deliveries of a job may fail before it is a dead
	// letter. Waiting for the end of a limit is no failure. Zero: 5.
	MaxDeliver int
	// MustExist has Open and OpenCooldowns make nothing: where there is no such queue the
	// error is a [*NoQueueError], where nobody shares cooldowns [ErrNoCooldowns]. False:
	// what is not there is made.
	MustExist bool
}

const (
	defaultAckWait    = 30 * time.Second
	defaultMaxDeliver = 5
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
	if out.AckWait == 0 {
		out.AckWait = defaultAckWait
	}
	if out.MaxDeliver == 0 {
		out.MaxDeliver = defaultMaxDeliver
	}
	switch {
	case !queueName.MatchString(out.Name):
		return out, fmt.Errorf("jetstream: the queue name %q: use 1 to 64 letters, digits, - and _", out.Name)
	case out.Replicas < 0 || out.Replicas > 5:
		return out, fmt.Errorf("jetstream: %d replicas: use 1 to 5, or 0 for what the cluster has", out.Replicas)
	case out.AckWait < time.Second:
		return out, fmt.Errorf("jetstream: an AckWait of %v: use a second or more, or 0 for 30 s", out.AckWait)
	case out.MaxDeliver < 1:
		return out, fmt.Errorf("jetstream: a MaxDeliver of %d: use 1 or more, or 0 for 5", out.MaxDeliver)
	}
	return out, nil
}

// Queue is a durable queue of jobs, and their results. Make it with [Open]. It is
// safe for concurrent use, and has nothing to close: its connection is the caller's.
type Queue struct {
	cfg         Config
	nc          *nats.Conn
	js          js.JetStream
	jobs        js.Stream // what waits or runs: one message each
	results     js.Stream // what came of it, and marks of jobs that may have acted
	payloads    js.ObjectStore
	workers     js.KeyValue
	takers      takers
	room        room
	latest      int           // the protocol of its workers
	most        int           // how many consumers there may be
	coarsePause time.Duration // of a refused job of a class that has none of its own
}

// Open opens the queue, and makes its streams where there are none. A nil cfg means
// defaults. The server has to be NATS 2.12 or newer. Open waits up to 30 s for a cluster
// that has no leader, such as one that starts.
func Open(ctx context.Context, nc *nats.Conn, cfg *Config) (*Queue, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	q := &Queue{
		cfg: c, nc: nc, latest: protocol, most: maxClasses, coarsePause: coarsePause,
		takers: takers{byName: map[string]*taker{}},
	}
	if q.js, err = js.New(nc); err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	err = onceLed(ctx, nc, q.open)
	if missing, ok := errors.AsType[*NoQueueError](err); ok {
		return nil, missing
	}
	if err != nil {
		return nil, fmt.Errorf("jetstream: queue %s: %w", c.Name, err)
	}
	return q, nil
}

func (q *Queue) open(ctx context.Context) (err error) {
	if q.cfg.MustExist {
		if err := q.find(ctx); err != nil {
			return err
		}
	}
	for _, replicas := range replicasToTry(q.cfg.Replicas, q.nc) {
		if err = q.make(ctx, replicas); !tooFewServers(err) {
			break
		}
	}
	return err
}

// replicasToTry asks a single server for no more than one copy: a server answers for
// itself alone.
func replicasToTry(wanted int, nc *nats.Conn) []int {
	switch {
	case wanted > 0:
		return []int{wanted}
	case nc.ConnectedClusterName() == "":
		return []int{1}
	}
	return []int{3, 1}
}

// The error codes of a server that has not as many peers as replicas were asked for.
const (
	errCodeNoPeers  js.ErrorCode = 10005
	errCodeReplicas js.ErrorCode = 10074
)

func tooFewServers(err error) bool {
	api, ok := errors.AsType[*js.APIError](err)
	return ok && !noRoom(err) && (api.ErrorCode == errCodeNoPeers || api.ErrorCode == errCodeReplicas)
}

func explained(err error) error {
	if errors.Is(err, js.ErrJetStreamNotEnabled) || errors.Is(err, js.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("%w: start the server with JetStream (nats-server -js)", err)
	}
	return err
}
