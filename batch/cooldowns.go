package batch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
)

// needPerson are the reasons that remain until a person does something. Waiting for the end of such a cooldown is
// useless.
var needPerson = []clichain.Reason{clichain.ReasonUnauthenticated, clichain.ReasonBilling}

// watchedStore is a store that holds the last state that it returned for each backend.
type watchedStore struct {
	cooldown.Store
	mu     sync.Mutex
	states map[string]cooldown.State
}

func watch(s cooldown.Store) *watchedStore {
	if s == nil {
		s = cooldown.NewMemory()
	}
	return &watchedStore{Store: s, states: map[string]cooldown.State{}}
}

// Load returns the state of a backend.
func (s *watchedStore) Load(ctx context.Context, key string) (cooldown.State, error) {
	state, err := s.Store.Load(ctx, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[key] = state
	return state, err
}

// needsPerson reports whether every backend that cools down waits for a person.
func (s *watchedStore) needsPerson(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	any := false
	for _, state := range s.states {
		if !state.Until.After(now) {
			continue
		}
		if !slices.Contains(needPerson, state.Reason) {
			return false
		}
		any = true
	}
	return any
}
