// Package provider answers requests with one CLI: it plans a call, runs it, retries it, and keeps processes that answer
// many requests.
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

// Provider is a backend that answers. It is safe for concurrent use after Init. The zero Provider is invalid.
type Provider struct {
	backend.Backend
	slots   semaphore.Semaphore // of Settings.MaxParallel; nil: no limit
	breaker func() *cooling.Keeper
}

// Init sets the spec and the settings, as that of the Backend does.
func (p *Provider) Init(spec clispec.Spec, settings backend.Settings) {
	p.Backend.Init(spec, settings)
	if settings.MaxParallel > 0 {
		p.slots = make(semaphore.Semaphore, settings.MaxParallel)
	}
	p.breaker = sync.OnceValue(func() *cooling.Keeper {
		return &cooling.Keeper{Store: cooldown.NewMemory(), Rules: policy.Breaker(), Log: settings.Logger}
	})
}

// Breaker keeps the cooldown of the Provider itself. Init has been called.
func (p *Provider) Breaker() *cooling.Keeper { return p.breaker() }
