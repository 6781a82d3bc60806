package cooldown

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Store keeps the cooldowns of backends. [NewMemory] is for one process and [NewFile] for all processes of one user.
// A store for several machines must support compare-and-swap. Keys are opaque and contain no secrets. Implementations
// must be safe for concurrent use.
//
// An error of a store does not fail a call: the backend is asked, and the Response has a warning. A chain cancels the
// context of an access after 0.5 s, or earlier if the call has little time. It does not wait for a store that ignores
// the context, and does not call that store again before it has returned.
type Store interface {
	// Load returns the State of the key, or the zero State.
	Load(ctx context.Context, key string) (State, error)
	// Update atomically replaces the State of the key with the result of change. The zero State removes the key.
	// Update may call change more than once, but not concurrently and not after it has returned. change does not
	// block.
	Update(ctx context.Context, key string, change func(State) State) error
}

// maxStates limits a store, which has one state for each backend and login.
const maxStates = 512

// prune removes stale states, and the oldest states above maxStates.
func prune(states map[string]State, now time.Time) {
	var keys []string
	for key, state := range states {
		if state.Stale(now) {
			delete(states, key)
		} else {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return states[a].At.Compare(states[b].At) })
	for _, key := range keys[:max(len(keys)-maxStates, 0)] {
		delete(states, key)
	}
}

// Memory is a [Store] in the memory of this process. Each chain makes one unless ChainConfig.Store is set; share one
// to share cooldowns. The zero value works. A Memory is safe for concurrent use and must not be copied.
type Memory struct {
	mu     sync.RWMutex
	states map[string]State
	quotas map[string]Quota
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return new(Memory) }

// Load returns the State of the key. The error is always nil.
func (s *Memory) Load(_ context.Context, key string) (State, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.states[key], nil
}

// Update replaces the State of the key. The error is always nil.
func (s *Memory) Update(_ context.Context, key string, change func(State) State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.states == nil {
		s.states = map[string]State{}
	}
	if next := change(s.states[key]); next != (State{}) {
		s.states[key] = next
	} else {
		delete(s.states, key)
	}
	if len(s.states) > maxStates {
		prune(s.states, time.Now())
	}
	return nil
}

// LoadQuota returns the Quota of the key. The error is always nil.
func (s *Memory) LoadQuota(_ context.Context, key string) (Quota, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.quotas[key].Kept(time.Now()), nil
}

// UpdateQuota replaces the Quota of the key. The error is always nil.
func (s *Memory) UpdateQuota(_ context.Context, key string, change func(Quota) Quota) error {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quotas == nil {
		s.quotas = map[string]Quota{}
	}
	s.quotas[key] = change(s.quotas[key].Kept(now))
	pruneQuotas(s.quotas, now)
	return nil
}

// Quotas returns all keys with their values. The error is always nil.
func (s *Memory) Quotas(context.Context) (map[string]Quota, error) {
	s.mu.RLock()
	quotas := maps.Clone(s.quotas)
	s.mu.RUnlock()
	pruneQuotas(quotas, time.Now())
	return quotas, nil
}
