package live

import (
	"context"
	"time"

	"github.com/clichain/clichain"
)

// StartGivenUp starts a process that the pool drops in the meantime, and returns after that.
func StartGivenUp(ctx context.Context, p *Pool, req clichain.Request) {
	one, w := unstarted(ctx, p, req)
	one.start(ctx, w)
}

// StartDuringClose starts a process of a pool whose Close begins in the meantime, and returns after that.
func StartDuringClose(ctx context.Context, p *Pool, req clichain.Request) {
	one, w := unstarted(ctx, p, req)
	p.all = append(p.all, one)
	p.end(ErrClosed)
	one.start(ctx, w)
}

// ColdTime returns the measured duration of the cold calls of a backend, or zero.
func ColdTime(p *Pool, backend string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(p.paceOf(backend).cold)
}

func unstarted(ctx context.Context, p *Pool, req clichain.Request) (*process, *waiter) {
	b := p.backends[0].(*backend)
	w := &waiter{backend: b, ctx: ctx, req: req, key: "k", name: b.Name(), since: time.Now()}
	return &process{pool: p, key: w.key, name: w.name, stop: func(error) {}}, w
}
