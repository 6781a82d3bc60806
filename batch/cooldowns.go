package batch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
)

// needPerson lists the reasons that an operator must resolve. Waiting for the end of a cooldown with one of these
// reasons is useless.
var needPerson = []clichain.Reason{clichain.ReasonUnauthenticated, clichain.ReasonBilling}

// watchedStore is a store that keeps the last state that it returned for each backend.
type watchedStore struct {
	cooldown.Store
	quotas cooldown.QuotaStore
	mu     sync.Mutex
	states map[string]cooldown.State
}

func watch(s cooldown.Store) *watchedStore {
	if s == nil {
		s = cooldown.NewMemory()
	}
	quotas, ok := s.(cooldown.QuotaStore)
	if !ok {
		quotas = cooldown.NewMemory()
	}
	return &watchedStore{Store: s, quotas: quotas, states: map[string]cooldown.State{}}
}

// LoadQuota returns the usage windows of an account.
func (s *watchedStore) LoadQuota(ctx context.Context, key string) (cooldown.Quota, error) {
	return s.quotas.LoadQuota(ctx, key)
}

// UpdateQuota replaces the usage windows of an account.
func (s *watchedStore) UpdateQuota(
	ctx context.Context, key string, change func(cooldown.Quota) cooldown.Quota,
) error {
	return s.quotas.UpdateQuota(ctx, key, change)
}

// Quotas returns the usage windows of all accounts.
func (s *watchedStore) Quotas(ctx context.Context) (map[string]cooldown.Quota, error) {
	return s.quotas.Quotas(ctx)
}

// Load returns the state of a backend.
func (s *watchedStore) Load(ctx context.Context, key string) (cooldown.State, error) {
	state, err := s.Store.Load(ctx, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[key] = state
	return state, err
}

// needsPerson reports whether an operator must resolve the cooldown of every backend that is in cooldown.
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
