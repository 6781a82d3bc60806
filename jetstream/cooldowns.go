package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/jetstream/internal/jsapi"
	"github.com/clichain/clichain/jetstream/internal/store"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// Cooldowns is a [cooldown.Store] that all who open it share: a limit that one worker meets puts that login in
// cooldown for the whole fleet. The keys of backends say which logins are the same: see clichain.Config.Account.
// Loading reads a copy, which the server keeps up to date. It is safe for concurrent use, and must be closed.
type Cooldowns struct {
	bucket  js.KeyValue
	watcher js.KeyWatcher
	done    chan struct{}

	mu     sync.RWMutex
	states map[string]Cooldown
}

// Cooldown is what is kept of a backend. A plain value.
type Cooldown struct {
	Key   string         `json:"key"`
	State cooldown.State `json:"state"`
}

// cooldownMemory is longer than any cooldown that still counts.
const cooldownMemory = 60 * 24 * time.Hour

const cooldownBucket = "clichain_cooldowns"

// ErrNoCooldowns is the error of OpenCooldowns where nobody shares cooldowns, and Config.MustExist is set.
var ErrNoCooldowns = errors.New("jetstream: nobody shares cooldowns here")

// OpenCooldowns opens the cooldowns of a cluster, one store for all queues. Of cfg only Replicas and MustExist count;
// nil means defaults. It waits for a leader as Open does.
func OpenCooldowns(ctx context.Context, nc *nats.Conn, cfg *Config) (*Cooldowns, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	stream, err := js.New(nc)
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	var bucket js.KeyValue
	err = jsapi.WaitForLeader(ctx, nc, func(ctx context.Context) error {
		return jsapi.WithReplicas(c.Replicas, nc, func(replicas int) (err error) {
			bucket, err = openBucket(ctx, stream, replicas, c.MustExist)
			return err
		})
	})
	if errors.Is(err, ErrNoCooldowns) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("jetstream: cooldowns: %w", err)
	}
	s := &Cooldowns{bucket: bucket, done: make(chan struct{}), states: map[string]Cooldown{}}
	if s.watcher, err = bucket.WatchAll(context.WithoutCancel(ctx)); err != nil {
		return nil, fmt.Errorf("jetstream: cooldowns: %w", err)
	}
	known := make(chan struct{})
	go s.follow(known)
	select {
	case <-known:
		return s, nil
	case <-ctx.Done():
		s.Close()
		return nil, fmt.Errorf("jetstream: cooldowns: %w", context.Cause(ctx))
	}
}

func openBucket(ctx context.Context, stream js.JetStream, replicas int, mustExist bool) (js.KeyValue, error) {
	open := func() (js.KeyValue, error) { return stream.KeyValue(ctx, cooldownBucket) }
	if !mustExist {
		return jsapi.OpenOrCreate(open, func() (js.KeyValue, error) {
			return stream.CreateKeyValue(ctx, js.KeyValueConfig{
				Bucket: cooldownBucket, TTL: cooldownMemory, Replicas: replicas,
			})
		})
	}
	bucket, err := open()
	if errors.Is(err, js.ErrBucketNotFound) {
		return nil, ErrNoCooldowns
	}
	return bucket, err
}

// follow keeps the copy. known is closed when it has what there was at the beginning.
func (s *Cooldowns) follow(known chan struct{}) {
	defer close(s.done)
	for e := range s.watcher.Updates() {
		if e == nil {
			close(known)
			continue
		}
		s.mu.Lock()
		var v Cooldown
		if e.Operation() == js.KeyValuePut && json.Unmarshal(e.Value(), &v) == nil {
			s.states[e.Key()] = v
		} else {
			delete(s.states, e.Key())
		}
		s.mu.Unlock()
	}
}

// Close ends the copy. The store stays.
func (s *Cooldowns) Close() {
	_ = s.watcher.Stop()
	<-s.done
}

// Load returns what is kept under the key. It never fails and asks no server.
func (s *Cooldowns) Load(_ context.Context, name string) (cooldown.State, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.states[store.Key(name)].State, nil
}

// States returns all that is kept, by the backends' keys. It never fails and asks no server.
func (s *Cooldowns) States(context.Context) (map[string]cooldown.State, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	states := make(map[string]cooldown.State, len(s.states))
	for _, c := range s.states {
		states[c.Key] = c.State
	}
	return states, nil
}

// updateLimit bounds an update: a call waits for it.
const updateLimit = 3 * time.Second

// Update replaces what is kept under the key by a compare-and-set. The error is that of the server, or of one that
// did not answer for 3 s.
func (s *Cooldowns) Update(ctx context.Context, name string, change func(cooldown.State) cooldown.State) error {
	ctx, cancel := context.WithTimeout(ctx, updateLimit)
	defer cancel()
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(time.Millisecond), backoff.WithMaxInterval(100*time.Millisecond))
	err := backoff.Retry(func() error {
		err := s.replace(ctx, name, change)
		if err != nil && !jsapi.IsConflict(err) && !errors.Is(err, js.ErrKeyExists) {
			return backoff.Permanent(err)
		}
		return err
	}, backoff.WithContext(pause, ctx))
	if err != nil {
		return fmt.Errorf("jetstream: cooldowns: %w", err)
	}
	return nil
}

func (s *Cooldowns) replace(ctx context.Context, name string, change func(cooldown.State) cooldown.State) error {
	k := store.Key(name)
	var old Cooldown
	var revision uint64
	found, err := s.bucket.Get(ctx, k)
	switch {
	case err == nil:
		revision = found.Revision()
		if err := json.Unmarshal(found.Value(), &old); err != nil {
			old = Cooldown{} // what nobody can read counts as nothing
		}
	case !errors.Is(err, js.ErrKeyNotFound):
		return err
	}
	next := change(old.State)
	switch {
	case next == old.State:
		return nil
	case next == cooldown.State{}:
		return s.bucket.Delete(ctx, k, js.LastRevision(revision))
	}
	data, err := json.Marshal(Cooldown{name, next})
	if err != nil {
		return err
	}
	if revision == 0 {
		_, err = s.bucket.Create(ctx, k, data)
	} else {
		_, err = s.bucket.Update(ctx, k, data, revision)
	}
	if err == nil {
		s.mu.Lock()
		s.states[k] = Cooldown{name, next} // this client reads its own write before the server reports it
		s.mu.Unlock()
	}
	return err
}

// cooldownIn reads one of a bucket; ok is false where it is not there any more.
func cooldownIn(ctx context.Context, bucket js.KeyValue, k string) (c Cooldown, ok bool) {
	found, err := bucket.Get(ctx, k)
	ok = err == nil && json.Unmarshal(found.Value(), &c) == nil
	return c, ok
}
