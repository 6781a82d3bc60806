package doctor

import (
	"context"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/judge"
)

// How far the bound of the probes grows: an answer that took a time gives the others three times as long, since a CLI
// is run twice, for its version and its login. All of it ends at a multiple of the first bound.
const (
	patienceFactor = 3
	patienceMost   = 8
)

// patience bounds probes that run at once, by what the answers so far say about the speed of this machine.
type patience struct {
	start  time.Time
	cancel context.CancelCauseFunc
	most   time.Duration // that the bound can grow to

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration // from start; grows
}

// newPatience begins with a bound, at the end of which the context ends with a timeout. Call stop at the end.
func newPatience(parent context.Context, limit time.Duration) (ctx context.Context, p *patience) {
	p = &patience{start: time.Now(), limit: limit, most: patienceMost * limit}
	ctx, p.cancel = context.WithCancelCause(parent)
	p.mu.Lock() // the timer may fire before it is stored
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(limit, p.end)
	return ctx, p
}

func (p *patience) end() {
	p.cancel(&judge.Stop{Reason: call.ReasonTimeout, After: p.bound()})
}

// answered lets the probes that are still running take longer than the one that has just answered.
func (p *patience) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := min(patienceFactor*time.Since(p.start), p.most)
	if limit <= p.limit || !p.timer.Stop() {
		return // it is long enough, or over
	}
	p.limit = limit
	p.timer.Reset(limit - time.Since(p.start))
}

// bound is how long the probes may take, as far as is known now.
func (p *patience) bound() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

func (p *patience) stop() {
	p.timer.Stop()
	p.cancel(nil)
}
