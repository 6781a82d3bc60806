package cooldown

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Store keeps the cooldowns of backends. [NewMemory] is for one process,
// [NewFile] for all processes of one user; a store for several machines must be
// able to compare and swap. Keys are opaque and hold no secrets. Implementations
// must be safe for concurrent use.
//
// An error of a store fails no call: without a known cooldown the backend is
// tried, and the Response has a warning. A chain cancels the context of an access
// that takes more than 0.5 s, or its part of the call's time. It does not wait for
// a store that ignores that, and calls it again only after it has returned.
type Store interface {
	// Load returns what is kept under the key; the zero State if nothing is.
	Load(ctx context.Context, key string) (State, error)
	// Update atomically replaces what is kept under the key by the result of
	// change. The zero State removes it. change may be called more than once, but
	// by one goroutine at a time, and not after Update has returned. It does not
	// block.
	Update(ctx context.Context, key string, change func(State) State) error
}

// maxStates bounds a store. There is one state for each backend and credential.
const maxStates = 512

// prune drops stale states, and the oldest ones above maxStates.
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

// Memory is a [Store] in this process, safe for concurrent use. A chain makes
// one for itself unless ChainConfig.Store is set; share one to share cooldowns.
// The zero value works; it must not be copied.
type Memory struct {
	mu     sync.RWMutex
	states map[string]State
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return new(Memory) }

// Load returns what is kept under the key. It never fails.
func (s *Memory) Load(_ context.Context, key string) (State, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.states[key], nil
}

// Update replaces what is kept under the key. It never fails.
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
