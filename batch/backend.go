package batch

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/live"
)

// localBackend answers the jobs of a batch in this process. Once drained, no backend is ready, so that the worker takes
// no more jobs. Calls in flight continue; the end of the worker's context would cancel them.
type localBackend struct {
	clichain.Backend // the chain, or what Config.Wrap returned for it
	chain            *clichain.Chain
	store            *watchedStore
	pool             *live.Pool // nil: every call is a cold one
	drained          atomic.Bool
	inFlight         atomic.Int64
}

// newLocalBackend makes the chain that answers. It calls startFailed when a backend has no warm process.
func newLocalBackend(cfg *Config, hooks *clichain.Hooks, startFailed func(backend string, err error)) *localBackend {
	b := &localBackend{store: watch(cfg.Chain.Store)}
	backends := cfg.Backends
	if !cfg.Cold {
		b.pool, backends = warm(cfg, startFailed)
	}
	chain := cfg.Chain
	chain.Store, chain.Hooks = b.store, clichain.JoinHooks(cfg.Chain.Hooks, hooks)
	b.chain = clichain.ChainOf(backends, &chain)
	b.Backend = b.chain
	if cfg.Wrap != nil {
		b.Backend = cfg.Wrap(b.chain)
	}
	if _, ok := b.Backend.(interface{ Ready(context.Context) error }); !ok {
		b.Backend = clichain.ChainOf([]clichain.Backend{b.Backend}, nil) // a worker expects errors of a chain
	}
	return b
}

// warm replaces each Provider by a backend of a pool of warm processes.
func warm(cfg *Config, startFailed func(backend string, err error)) (*live.Pool, []clichain.Backend) {
	var providers []*clichain.Provider
	var places []int // of the providers among the backends
	for i, b := range cfg.Backends {
		if p, ok := b.(*clichain.Provider); ok {
			providers, places = append(providers, p), append(places, i)
		}
	}
	if len(providers) == 0 {
		return nil, cfg.Backends
	}
	pool := live.NewPool(providers, &live.PoolConfig{Size: cfg.Jobs, StartFailed: startFailed})
	backends := slices.Clone(cfg.Backends)
	for i, b := range pool.Backends() {
		backends[places[i]] = b
	}
	return pool, backends
}

// Ready returns nil if the worker shall take jobs and a backend can answer.
func (b *localBackend) Ready(ctx context.Context) error {
	if b.drained.Load() {
		return &clichain.ChainError{Cause: call.Errorf(clichain.ReasonSuppressed, "", "the batch takes no more jobs")}
	}
	return b.chain.Ready(ctx)
}

// Complete asks the chain, and counts the call.
func (b *localBackend) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	b.inFlight.Add(1)
	defer b.inFlight.Add(-1)
	return b.Backend.Complete(ctx, req)
}

// Stream asks the chain, and counts the call.
func (b *localBackend) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		b.inFlight.Add(1)
		defer b.inFlight.Add(-1)
		b.Backend.Stream(ctx, req)(yield)
	}
}

// close terminates the warm processes. It returns those that may be left.
func (b *localBackend) close() (left []string) {
	if b.pool == nil {
		return nil
	}
	return b.pool.Close().Left
}
