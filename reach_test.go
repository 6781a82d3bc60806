package clichain_test

import (
	"os"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/policy"
)

// often returns how often a test repeats a random case: times in the long form, else few.
func often(times, few uint64) uint64 {
	if os.Getenv("CLICHAIN_CONFORMANCE") != "long" {
		return few
	}
	return times
}

// policyReasons returns the reasons of the decision table.
func policyReasons() (list []clichain.Reason) {
	for r := range policy.Default {
		list = append(list, r)
	}
	return list
}

// onClock gives the cooldowns of a chain the clock of a test, nil for the real one, and a constant instead of random
// numbers. With 0.5, they have exactly the duration of their rules.
func onClock(c *clichain.Chain, chance float64, clock func() time.Time) *clichain.Chain {
	keeper := cooling.KeeperOf(c)
	keeper.Chance, keeper.Now = func() float64 { return chance }, clock
	return c
}

// breakerOnClock gives the breaker of a Provider the clock of a test, and no jitter.
func breakerOnClock(p *clichain.Provider, clock func() time.Time) {
	keeper := cooling.KeeperOf(p)
	keeper.Chance, keeper.Now = func() float64 { return 0.5 }, clock
}

// storeOf returns the store of the cooldowns of a chain.
func storeOf(c *clichain.Chain) cooldown.Store { return cooling.KeeperOf(c).Store }

// cooldownKey returns the key of the cooldown of a backend for requests with a model; empty if it has none.
func cooldownKey(b clichain.Backend, model string) string {
	return cooldownKeyOf(b, clichain.Request{Model: model})
}

// cooldownKeyOf returns the key for a request.
func cooldownKeyOf(b clichain.Backend, req clichain.Request) string {
	key, ok := cooling.CallOf(b, req).Key()
	if !ok {
		return ""
	}
	return key
}

// accountKey returns the key of the usage windows of the account of a backend; empty if it has none.
func accountKey(b clichain.Backend) (key, account string) {
	return callOf(b).AccountKey()
}

// callOf describes a call of a backend.
func callOf(b clichain.Backend) cooling.Call { return cooling.CallOf(b, clichain.Request{}) }

// scopeOf returns the fingerprint of the requests without a directory that a cooldown after the reason covers.
func scopeOf(reason clichain.Reason, b clichain.Backend) string {
	return callOf(b).Scope(policy.Default[reason].Cools.Scope)
}
