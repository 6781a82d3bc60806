package clichain

import (
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/policy"
)

// newKeeper takes what it needs of a chain's settings.
func newKeeper(cfg *ChainConfig, table policy.Table) *cooling.Keeper {
	k := &cooling.Keeper{
		Store: cfg.Store, Rules: table.Cooldowns(), Log: cfg.withDefaults().Logger, Began: cfg.Hooks.cooldown(),
	}
	switch {
	case cfg.NoCooldown:
		k.Store = nil
	case k.Store == nil:
		k.Store = cooldown.NewMemory()
	}
	return k
}

// chainCall is a call of a chain, whose own backends cool down.
type chainCall struct{ backend.CooldownCall }

// Key returns false, for no cooldown.
func (chainCall) Key() (key string, ok bool) { return "", false }
