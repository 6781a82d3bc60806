package cooldown

import (
	"context"
	"maps"

	"github.com/clichain/clichain/call"
)

// Quota is what is known about the plan of one account. It is a plain value that can be stored as JSON. The zero value
// means that nothing is known.
type Quota struct {
	// Account is Config.Account of the backends. Empty: the key stands for the login.
	Account string `json:"account,omitempty"`
	// Backends are the names of the backends that reported the windows, sorted.
	Backends []string `json:"backends,omitempty"`
	// Windows are the last reports, one for each name.
	Windows []call.QuotaWindow `json:"windows,omitempty"`
}

// QuotaStore is a [Store] that also keeps what is known about the plans of accounts. All stores of this module are
// ones. The keys are those of accounts, and differ from the keys of cooldowns. The notes about errors, time limits and
// concurrent use in [Store] hold here too.
type QuotaStore interface {
	Store
	// LoadQuota returns the Quota of the key, or the zero Quota.
	LoadQuota(ctx context.Context, key string) (Quota, error)
	// UpdateQuota atomically replaces the Quota of the key with the result of change, as Update does for a State. A
	// result without windows removes the key.
	UpdateQuota(ctx context.Context, key string, change func(Quota) Quota) error
	// Quotas returns all keys with their values.
	Quotas(ctx context.Context) (map[string]Quota, error)
}

// LoadQuota returns the Quota of the key. The error is always nil.
func (s *Memory) LoadQuota(_ context.Context, key string) (Quota, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.quotas[key], nil
}

// UpdateQuota replaces the Quota of the key. The error is always nil.
func (s *Memory) UpdateQuota(_ context.Context, key string, change func(Quota) Quota) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quotas == nil {
		s.quotas = map[string]Quota{}
	}
	if next := change(s.quotas[key]); len(next.Windows) > 0 {
		s.quotas[key] = next
	} else {
		delete(s.quotas, key)
	}
	return nil
}

// Quotas returns all keys with their values. The error is always nil.
func (s *Memory) Quotas(context.Context) (map[string]Quota, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.quotas), nil
}
