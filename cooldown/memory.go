package cooldown

import (
	"context"
	"sync"
	"time"
)

// Memory keeps rests in this process. Every [Chain] has one of its own
// unless ChainConfig.Store is set; share one to let chains know of each other.
type Memory struct {
	mu     sync.RWMutex
	states map[string]State
}

// NewMemory makes an empty store.
func NewMemory() *Memory { return &Memory{states: map[string]State{}} }

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
