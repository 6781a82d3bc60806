package clichain

import (
	"os"
	"time"

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
func PolicyReasons() (list []Reason) {
	for r := range policy.Default {
		list = append(list, r)
	}
	return list
}

// CooldownsWithout gives a chain's cooldowns exactly the duration of their rules, without jitter, on the test's
// clock; nil means the real clock.
func (c *Chain) CooldownsWithout(chance float64, clock func() time.Time) *Chain {
	c.cooldown.Chance, c.cooldown.Now = func() float64 { return chance }, clock
	return c
}

// BreakerOnClock gives the provider's breaker the test's clock, and no jitter.
func (p *Provider) BreakerOnClock(clock func() time.Time) {
	p.impl.Breaker().Chance, p.impl.Breaker().Now = func() float64 { return 0.5 }, clock
}

// StoreOf returns the store of a chain's cooldowns.
func (c *Chain) StoreOf() cooldown.Store { return c.cooldown.Store }

// CooldownKey returns the key of a backend's cooldowns; empty if it has none.
func CooldownKey(b Backend, model string) string { return CooldownKeyOf(b, Request{Model: model}) }

// CooldownKeyOf returns the key for a request.
func CooldownKeyOf(b Backend, req Request) string {
	key, ok := candidateOf(b).Cooldown(req).Key()
	if !ok {
		return ""
	}
	return key
}

// AccountKey returns the key of the usage windows of a backend's account; empty if it has none.
func AccountKey(b Backend) (key, account string) {
	return candidateOf(b).Cooldown(Request{}).AccountKey()
}

// CallOf describes a call of a backend.
func CallOf(b Backend) cooling.Call { return candidateOf(b).Cooldown(Request{}) }

// ScopeOf returns the fingerprint of the requests without a directory that a cooldown after the reason covers.
func ScopeOf(reason Reason, b Backend) string {
	return candidateOf(b).Cooldown(Request{}).Scope(policy.Default[reason].Cools.Scope)
}
