package clichain

import (
	"time"
)

// RestWithout makes a chain's rests as long as their rules say, without chance,
// on a clock of the test's own; nil: the real one.
func (c *Chain) RestWithout(chance float64, clock func() time.Time) *Chain {
	c.cooldown.Chance = func() float64 { return chance }
	if clock != nil {
		c.cooldown.Now = clock
	}
	return c
}

// StoreOf is what a chain keeps its rests in.
func (c *Chain) StoreOf() Store { return c.cooldown.Store }

// RestKey is what a backend's rests are kept under; empty where none are.
func RestKey(b Backend, model string) string {
	key, ok := cooldownCall{b, Request{Model: model}}.Key()
	if !ok {
		return ""
	}
	return key
}

// MaxRests bounds a store, LongestRest a rest.
const (
	MaxRests    = maxRests
	LongestRest = longestRest
)

// ScopeOf is the fingerprint of the requests that a rest after the reason is
// for, of those that name no folder.
func ScopeOf(reason Reason, b Backend) string {
	return cooldownCall{b, Request{}}.Scope(policy[reason].cools.Scope)
}
