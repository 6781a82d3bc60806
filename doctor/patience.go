package doctor

import (
	"context"
	"sync"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/judge"
)

// The limit of the probes grows to three times the duration of the slowest answer, because a CLI runs twice, for its
// version and its login. It grows at most to eight times its initial value.
const (
	patienceFactor = 3
	patienceMost   = 8
)

// patience limits concurrent probes by the speed that the answers so far have shown.
type patience struct {
	start  time.Time
	cancel context.CancelCauseFunc
	most   time.Duration // maximum of limit

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration // from start
}

// newPatience returns a context that times out after a limit that can grow. Call stop at the end.
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

// answered extends the limit after an answer.
func (p *patience) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := min(patienceFactor*time.Since(p.start), p.most)
	if limit <= p.limit || !p.timer.Stop() {
		return // the limit is long enough, or has passed
	}
	p.limit = limit
	p.timer.Reset(limit - time.Since(p.start))
}

// bound returns the current limit of the probes.
func (p *patience) bound() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

func (p *patience) stop() {
	p.timer.Stop()
	p.cancel(nil)
}
