package live

import (
	"context"
	"fmt"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/held"
)

// observe begins a turn for the hooks. The returned function ends it, and stores the usage windows that the turn
// reported.
func (t *Turn) observe(s *Session) (end func()) {
	see, over := func(clichain.Event) {}, func(*clichain.Response, error) {}
	t.guard(func() { see, over = held.Watch(turnContext{t.ctx, t.values}, s.cfg.Hooks, t.req) })
	t.see = func(e clichain.Event) { t.guard(func() { see(e) }) }
	began, name := time.Now(), s.provider.Name()
	t.see(clichain.Event{Kind: clichain.EventStart, Backend: name})
	return func() {
		var windows []call.QuotaWindow
		if t.err == nil {
			windows = t.resp.Quota
			t.see(clichain.Event{Kind: clichain.EventDone, Backend: name, Response: t.resp})
		} else {
			failed := call.AsError(name, t.err)
			windows = failed.Quota
			t.see(clichain.Event{Kind: clichain.EventAttempt, Attempt: &clichain.Attempt{
				Backend: name, Reason: failed.Reason, Duration: time.Since(began), Usage: failed.Usage, Err: failed,
			}})
		}
		s.keep(t.ctx, windows)
		t.guard(func() { over(t.resp, t.err) })
	}
}

// hookPanic is the panic of a hook.
type hookPanic struct{ value any }

func (p *hookPanic) Error() string { return fmt.Sprintf("live: a hook panicked: %v", p.value) }

// guard calls hooks. A panic cancels the turn, because hooks do not run on a goroutine of the caller.
func (t *Turn) guard(hooks func()) {
	defer func() {
		if v := recover(); v != nil {
			p := &hookPanic{v}
			t.panicked.CompareAndSwap(nil, p)
			t.stop(p)
		}
	}()
	hooks()
}

// emit passes an event of a turn to the hooks and the readers. ctx limits the wait for the readers.
func (s *Session) emit(ctx context.Context, t *Turn, e clichain.Event) {
	t.see(e)
	s.tell(ctx, item{event: e})
}

// turnContext ends with a turn and has the values of another context.
type turnContext struct {
	context.Context
	values context.Context
}

func (c turnContext) Value(key any) any {
	if value := c.Context.Value(key); value != nil {
		return value
	}
	return c.values.Value(key)
}
