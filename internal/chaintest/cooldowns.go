package chaintest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/policy"
)

// Often returns how often a test repeats a random case: times in the long form, else few.
func Often(times, few uint64) uint64 {
	if os.Getenv("CLICHAIN_CONFORMANCE") != "long" {
		return few
	}
	return times
}

// PolicyReasons returns the reasons of the decision table.
func PolicyReasons() (list []clichain.Reason) {
	for r := range policy.Default {
		list = append(list, r)
	}
	return list
}

// OnClock gives the cooldowns of a chain, or the breaker of a Provider, the clock of a test, nil for the real one, and
// a constant instead of random numbers. With 0.5, they have exactly the duration of their rules.
func OnClock[B clichain.Backend](b B, chance float64, clock func() time.Time) B {
	keeper := cooling.KeeperOf(b)
	keeper.Chance, keeper.Now = func() float64 { return chance }, clock
	return b
}

// StoreOf returns the store of the cooldowns of a chain.
func StoreOf(c *clichain.Chain) cooldown.Store { return cooling.KeeperOf(c).Store }

// CooldownKey returns the key of the cooldown of a backend for requests with a model; empty if it has none.
func CooldownKey(b clichain.Backend, model string) string {
	return CooldownKeyOf(b, clichain.Request{Model: model})
}

// CooldownKeyOf returns the key for a request.
func CooldownKeyOf(b clichain.Backend, req clichain.Request) string {
	key, ok := cooling.CallOf(b, req).Key()
	if !ok {
		return ""
	}
	return key
}

// AccountKey returns the key of the usage windows of the account of a backend; empty if it has none.
func AccountKey(b clichain.Backend) (key, account string) {
	return CallOf(b).AccountKey()
}

// CallOf describes a call of a backend.
func CallOf(b clichain.Backend) cooling.Call { return cooling.CallOf(b, clichain.Request{}) }

// ScopeOf returns the fingerprint of the requests without a directory that a cooldown after the reason covers.
func ScopeOf(reason clichain.Reason, b clichain.Backend) string {
	return CallOf(b).Scope(policy.Default[reason].Cools.Scope)
}

// CoolingUntil returns the time until which the chain skips a backend; zero: it does not skip it.
func CoolingUntil(t *testing.T, c *clichain.Chain, b clichain.Backend) time.Time {
	t.Helper()
	err := c.CoolingDown(t.Context(), b)
	if err == nil {
		return time.Time{}
	}
	return RequireReason(t, clichain.ReasonCoolingDown, err).RetryAfter
}

// Put returns a change that replaces a state.
func Put(state cooldown.State) func(cooldown.State) cooldown.State {
	return func(cooldown.State) cooldown.State { return state }
}

// StalledStore does not return before release is closed. It ignores contexts, like a file on a dead network drive.
type StalledStore struct {
	LoadStalls, UpdateStalls bool // the stalled methods
	Release                  chan struct{}
	kept                     cooldown.Memory
}

// Load stalls if LoadStalls is set.
func (s *StalledStore) Load(ctx context.Context, key string) (cooldown.State, error) {
	if s.LoadStalls {
		<-s.Release
	}
	return s.kept.Load(ctx, key)
}

// Update stalls if UpdateStalls is set.
func (s *StalledStore) Update(ctx context.Context, key string, change func(cooldown.State) cooldown.State) error {
	if s.UpdateStalls {
		<-s.Release
	}
	return s.kept.Update(ctx, key, change)
}
