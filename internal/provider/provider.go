// Package provider answers requests with one CLI: it plans, runs and retries a call, and starts processes that
// answer many requests.
package provider

import (
	"sync"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/backend"
	"github.com/clichain/clichain/internal/cooling"
	"github.com/clichain/clichain/internal/policy"
	"github.com/clichain/clichain/internal/semaphore"
)

// Provider is a backend that answers requests. It is safe for concurrent use after Init. The zero Provider is
// invalid.
type Provider struct {
	backend.Backend
	slots   semaphore.Semaphore // of Settings.MaxParallel; nil: no limit
	breaker func() *cooling.Keeper
}

// Init sets the spec and the settings, like Backend.Init.
func (p *Provider) Init(spec clispec.Spec, settings backend.Settings) {
	p.Backend.Init(spec, settings)
	if settings.MaxParallel > 0 {
		p.slots = make(semaphore.Semaphore, settings.MaxParallel)
	}
	p.breaker = sync.OnceValue(func() *cooling.Keeper {
		return &cooling.Keeper{Store: cooldown.NewMemory(), Rules: policy.Breaker(), Log: settings.Logger}
	})
}

// Breaker returns the keeper of the Provider's own cooldown. Init must have been called.
func (p *Provider) Breaker() *cooling.Keeper { return p.breaker() }
