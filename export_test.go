package clichain

import (
	"os"
	"time"

	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/policy"
)

// Often is how often something is tried that needs to be seen more than once: so many times with the long form of the
// tests, else a few.
func Often(times, few uint64) uint64 {
	if os.Getenv("CLICHAIN_CONFORMANCE") != "long" {
		return few
	}
	return times
}

// PolicyReasons are the Reasons of the decision table.
func PolicyReasons() (list []Reason) {
	for r := range policy.Default {
		list = append(list, r)
	}
	return list
}

// CooldownsWithout makes a chain's cooldowns as long as their rules say, without
// chance, on a clock of the test's own; nil: the real one.
func (c *Chain) CooldownsWithout(chance float64, clock func() time.Time) *Chain {
	c.cooldown.Chance, c.cooldown.Now = func() float64 { return chance }, clock
	return c
}

// BreakerOnClock gives the provider's breaker a clock of the test's own, and no chance.
func (p *Provider) BreakerOnClock(clock func() time.Time) {
	p.impl.Breaker().Chance, p.impl.Breaker().Now = func() float64 { return 0.5 }, clock
}

// StoreOf is what a chain keeps its cooldowns in.
func (c *Chain) StoreOf() cooldown.Store { return c.cooldown.Store }

// CooldownKey is what a backend's cooldowns are kept under; empty where none
// are.
func CooldownKey(b Backend, model string) string { return CooldownKeyOf(b, Request{Model: model}) }

// CooldownKeyOf is that of a request.
func CooldownKeyOf(b Backend, req Request) string {
	key, ok := candidateOf(b).Cooldown(req).Key()
	if !ok {
		return ""
	}
	return key
}

// ScopeOf is the fingerprint of the requests that a cooldown after the reason
// is for, of those that name no folder.
func ScopeOf(reason Reason, b Backend) string {
	return candidateOf(b).Cooldown(Request{}).Scope(policy.Default[reason].Cools.Scope)
}
