package batch

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/live"
)

// gate is a backend that a worker believes to be unavailable once the gate is shut. The worker takes no more jobs then,
// and what runs goes on: the end of the worker's context would cut it off.
type gate struct {
	*clichain.Provider // answers for everything but what follows
	asked              clichain.Backend
	crew               *crew
}

// Available is the provider's word while the gate is open.
func (g *gate) Available(ctx context.Context) error {
	if g.crew.shut.Load() {
		return call.Errorf(clichain.ReasonSuppressed, "", "the batch takes no more jobs")
	}
	return g.Provider.Available(ctx)
}

// Complete asks the backend behind the gate.
func (g *gate) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	return call.Collect(g.Stream(ctx, req))
}

// Stream asks the backend behind the gate.
func (g *gate) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		g.crew.calls.Add(1)
		defer g.crew.calls.Add(-1)
		g.asked.Stream(ctx, req)(yield)
	}
}

// crew is who answers the jobs of a batch in this process.
type crew struct {
	chain *clichain.Chain
	asked clichain.Backend // the chain, or what watches it
	store *watchedStore
	pool  *live.Pool // nil: every call is a cold one
	shut  atomic.Bool
	calls atomic.Int64 // that go on
}

// newCrew makes the chain that answers. It calls tell with the reason why a backend has no warm process.
func newCrew(cfg *Config, hooks *clichain.Hooks, tell func(backend string, err error)) *crew {
	c := &crew{store: watch(cfg.Chain.Store)}
	asked := make([]clichain.Backend, len(cfg.Providers))
	for i, p := range cfg.Providers {
		asked[i] = p
	}
	if !cfg.Cold {
		c.pool = live.NewPool(cfg.Providers, &live.PoolConfig{Size: cfg.Jobs, StartFailed: tell})
		asked = c.pool.Backends()
	}
	gates := make([]clichain.Backend, len(asked))
	for i, b := range asked {
		gates[i] = &gate{cfg.Providers[i], b, c}
	}
	chain := cfg.Chain
	chain.Store, chain.Hooks = c.store, clichain.JoinHooks(cfg.Chain.Hooks, hooks)
	c.chain = clichain.ChainOf(gates, &chain)
	c.asked = c.chain
	if cfg.Watched != nil {
		c.asked = cfg.Watched(c.chain)
	}
	return c
}

// close ends the processes that were kept warm.
func (c *crew) close() (left []string) {
	if c.pool == nil {
		return nil
	}
	return c.pool.Close().Left
}
