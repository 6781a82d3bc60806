package batch

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/live"
	"github.com/clichain/clichain/workspace"
)

// localBackend answers the jobs of a batch in this process. After the drained flag is set, no backend is ready, so
// the worker takes no more jobs. Calls in flight continue, which canceling the worker's context would not allow.
type localBackend struct {
	clichain.Backend // the chain, or what Config.Wrap returned for it
	chain            *clichain.Chain
	store            *watchedStore
	pool             *live.Pool // nil: every call starts a new process
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
	if cfg.Workspace != nil {
		backends = slices.Clone(backends)
		for i, b := range backends {
			backends[i] = workspace.New(b, cfg.Workspace)
		}
	}
	chain := cfg.Chain
	chain.Store, chain.Hooks = b.store, clichain.JoinHooks(cfg.Chain.Hooks, hooks)
	b.chain = clichain.ChainOf(backends, &chain)
	b.Backend = b.chain
	if cfg.Wrap != nil {
		b.Backend = cfg.Wrap(b.chain)
	}
	if _, ok := b.Backend.(interface{ Ready(context.Context) error }); !ok {
		b.Backend = clichain.ChainOf([]clichain.Backend{b.Backend}, nil) // a worker expects the errors of a chain
	}
	return b
}

// warm replaces each Provider with the backend of a pool of warm processes.
func warm(cfg *Config, startFailed func(backend string, err error)) (*live.Pool, []clichain.Backend) {
	var providers []*clichain.Provider
	var places []int // indexes of the providers among the backends
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

// Ready returns nil if the worker may take jobs and a backend can answer.
func (b *localBackend) Ready(ctx context.Context) error {
	if b.drained.Load() {
		return &clichain.ChainError{Cause: call.Errorf(clichain.ReasonSuppressed, "", "the batch takes no more jobs")}
	}
	return b.chain.Ready(ctx)
}

// Complete calls the chain and counts the call.
func (b *localBackend) Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
	b.inFlight.Add(1)
	defer b.inFlight.Add(-1)
	return b.Backend.Complete(ctx, req)
}

// Stream calls the chain and counts the call.
func (b *localBackend) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		b.inFlight.Add(1)
		defer b.inFlight.Add(-1)
		b.Backend.Stream(ctx, req)(yield)
	}
}

// close terminates the warm processes. It returns the names of processes that may still run.
func (b *localBackend) close() (left []string) {
	if b.pool == nil {
		return nil
	}
	return b.pool.Close().Left
}
