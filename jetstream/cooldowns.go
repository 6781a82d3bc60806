package jetstream

import (
	"bytes"
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

// Cooldowns is a [cooldown.QuotaStore] that all its clients share. A limit that one worker meets puts that login in
// cooldown for the whole fleet, and the usage windows that one worker reports are known to all. Backends with equal
// keys share a login; see clichain.Config.Account. Methods that only read use a local copy, which the server keeps up
// to date. Cooldowns is safe for concurrent use. Close it after use.
type Cooldowns struct {
	bucket  js.KeyValue
	watcher js.KeyWatcher
	done    chan struct{}

	mu     sync.RWMutex
	states map[string]Cooldown
	quotas map[string]accountQuota
}

// Cooldown is the cooldown of one backend. It is a plain value.
type Cooldown struct {
	Key   string         `json:"key"`
	State cooldown.State `json:"state"`
}

// cooldownMemory is longer than any cooldown.
const cooldownMemory = 60 * 24 * time.Hour

const cooldownBucket = "clichain_cooldowns"

// ErrNoCooldowns is the error of OpenCooldowns if Config.MustExist is set and the server has no shared cooldowns.
var ErrNoCooldowns = errors.New("jetstream: the server has no shared cooldowns")

// OpenCooldowns opens the cooldowns of a cluster. All queues share them. It uses only Replicas and MustExist of cfg;
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
	s := &Cooldowns{
		bucket: bucket, done: make(chan struct{}),
		states: map[string]Cooldown{}, quotas: map[string]accountQuota{},
	}
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
		return jsapi.OpenOrCreate(ctx, open, func() (js.KeyValue, error) {
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

// follow updates the copy. It closes known when the copy has all values that existed at the beginning.
func (s *Cooldowns) follow(known chan struct{}) {
	defer close(s.done)
	for e := range s.watcher.Updates() {
		switch {
		case e == nil:
			close(known)
		case e.Operation() == js.KeyValuePut:
			s.copied(e.Key(), e.Value())
		default:
			s.copied(e.Key(), nil)
		}
	}
}

// copied stores a value in the copy. An unreadable value counts as none.
func (s *Cooldowns) copied(k string, value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isQuotaKey(k) {
		copyValue(s.quotas, k, value, parseQuota)
	} else {
		copyValue(s.states, k, value, parseCooldown)
	}
}

func copyValue[V any](values map[string]V, k string, data []byte, parse func([]byte) (V, error)) {
	if v, err := parse(data); err == nil {
		values[k] = v
	} else {
		delete(values, k)
	}
}

func parseCooldown(data []byte) (c Cooldown, err error) {
	err = json.Unmarshal(data, &c)
	return c, err
}

// Close stops updating the copy. The cooldowns stay on the server.
func (s *Cooldowns) Close() {
	_ = s.watcher.Stop()
	<-s.done
}

// Load returns the state of a key. It never fails and sends no request to the server.
func (s *Cooldowns) Load(_ context.Context, name string) (cooldown.State, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.states[store.Key(name)].State, nil
}

// States returns all states by their keys. It never fails and sends no request to the server.
func (s *Cooldowns) States(context.Context) (map[string]cooldown.State, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	states := make(map[string]cooldown.State, len(s.states))
	for _, c := range s.states {
		states[c.Key] = c.State
	}
	return states, nil
}

// updateLimit bounds an update, because a call waits for it.
const updateLimit = 3 * time.Second

// Update replaces the state of a key with a compare-and-set. It returns the server's error, or an error if the server
// does not answer within 3 s.
func (s *Cooldowns) Update(ctx context.Context, name string, change func(cooldown.State) cooldown.State) error {
	return s.replace(ctx, store.Key(name), func(data []byte) ([]byte, error) {
		old, err := parseCooldown(data)
		if err != nil {
			old = Cooldown{} // an unreadable value counts as none
		}
		switch next := change(old.State); next {
		case old.State:
			return data, nil
		case cooldown.State{}:
			return nil, nil
		default:
			return json.Marshal(Cooldown{name, next})
		}
	})
}

// replace replaces the value of a key with the result of change, and tries again if another client was faster. A nil
// result removes the key.
func (s *Cooldowns) replace(ctx context.Context, k string, change func(old []byte) (next []byte, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, updateLimit)
	defer cancel()
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(time.Millisecond), backoff.WithMaxInterval(100*time.Millisecond))
	err := backoff.Retry(func() error {
		err := s.tryReplace(ctx, k, change)
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

func (s *Cooldowns) tryReplace(ctx context.Context, k string, change func([]byte) ([]byte, error)) error {
	var old []byte
	var revision uint64
	found, err := s.bucket.Get(ctx, k)
	switch {
	case err == nil:
		old, revision = found.Value(), found.Revision()
	case !errors.Is(err, js.ErrKeyNotFound):
		return err
	}
	next, err := change(old)
	switch {
	case err != nil || bytes.Equal(next, old):
		return err
	case next == nil:
		err = s.bucket.Delete(ctx, k, js.LastRevision(revision))
	case revision == 0:
		_, err = s.bucket.Create(ctx, k, next)
	default:
		_, err = s.bucket.Update(ctx, k, next, revision)
	}
	if err == nil {
		s.copied(k, next) // this client reads its own write before the server reports it
	}
	return err
}

// cooldownIn reads one cooldown; ok is false if it does not exist any more.
func cooldownIn(ctx context.Context, bucket js.KeyValue, k string) (c Cooldown, ok bool) {
	found, err := bucket.Get(ctx, k)
	ok = err == nil && json.Unmarshal(found.Value(), &c) == nil
	return c, ok
}
