package clichain

import (
	"context"
	"sync"
	"time"
)

// MemoryStore keeps rests in this process. Every [Chain] has one of its own
// unless ChainConfig.Store is set; share one to let chains know of each other.
type MemoryStore struct {
	mu    sync.RWMutex
	rests map[string]Rest
}

// NewMemoryStore makes an empty store.
func NewMemoryStore() *MemoryStore { return &MemoryStore{rests: map[string]Rest{}} }

// Load returns what is kept under the key. It never fails.
func (s *MemoryStore) Load(_ context.Context, key string) (Rest, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rests[key], nil
}

// Update replaces what is kept under the key. It never fails.
func (s *MemoryStore) Update(_ context.Context, key string, change func(Rest) Rest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next := change(s.rests[key]); next != (Rest{}) {
		s.rests[key] = next
	} else {
		delete(s.rests, key)
	}
	if len(s.rests) > maxRests {
		prune(s.rests, time.Now())
	}
	return nil
}
