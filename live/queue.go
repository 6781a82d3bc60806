package live

import (
	"context"
	"slices"
	"time"

	"github.com/clichain/clichain"
)

// waiter is a call that waits for a process.
type waiter struct {
	*backend
	ctx       context.Context // a process that the call starts outlives this context
	req       clichain.Request
	key, name string
	since     time.Time
	given     chan *process // has a buffer of one
	grew      bool          // the call has started a process
	cold      *coldCall     // the cold call, if the call got no process
}

// enter queues a call. The result waits in w.given.
func (p *Pool) enter(ctx context.Context, b *backend, key string, req clichain.Request) *waiter {
	w := &waiter{
		backend: b, ctx: ctx, req: req, key: key, name: b.Name(), since: time.Now(), given: make(chan *process, 1),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.free(key); one != nil && p.life.Err() == nil {
		one.enters(asked)
		w.given <- one
		return w
	}
	k := p.kindOf(key)
	k.waiting = append(k.waiting, w)
	p.look(w)
	return w
}

// wait waits for a process. Nil means that the call goes cold, unless ctx has ended.
func (p *Pool) wait(ctx context.Context, w *waiter) *process {
	for {
		p.mu.Lock()
		timer, changed := time.NewTimer(p.look(w)), p.ready
		p.mu.Unlock()
		select {
		case one := <-w.given:
			timer.Stop()
			return one
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			p.mu.Lock()
			defer p.mu.Unlock()
			if one := p.leave(w); one != nil {
				p.hand(one)
			}
			return nil
		}
		timer.Stop()
	}
}

// look decides whether a call continues to wait. If not, the call receives nil. The caller holds mu.
func (p *Pool) look(w *waiter) (again time.Duration) {
	ahead := slices.Index(p.kindOf(w.key).waiting, w)
	if ahead < 0 {
		return 0 // it has received a process
	}
	p.grow(w)
	ok, again := p.mayWait(w, ahead, time.Now())
	if !ok || p.life.Err() != nil {
		p.leave(w)
		p.addCold(w)
		w.given <- nil
	}
	return again
}

// leave ends a wait. It returns the process that the call received in the meantime, if any. The caller holds
// mu.
func (p *Pool) leave(w *waiter) (one *process) {
	k := p.kindOf(w.key)
	if i := slices.Index(k.waiting, w); i >= 0 {
		k.waiting = slices.Delete(k.waiting, i, i+1)
		return nil
	}
	return <-w.given
}

// free returns an idle process of a kind, or nil if there is none. The caller holds mu.
func (p *Pool) free(key string) *process {
	for _, one := range slices.Clone(p.all) {
		switch {
		case one.key != key || one.phase != idle:
		case !one.alive(): // it ended while it was idle
			p.drop(one)
		default:
			return one
		}
	}
	return nil
}

// grow starts a process for a waiting call if there are fewer processes than calls, and if the limits permit
// it. A kind that has failed starts one process at a time. The caller holds mu.
func (p *Pool) grow(w *waiter) {
	k := p.kindOf(w.key)
	processes, calls, starts := 0, len(k.waiting), 0
	for _, one := range p.all {
		if one.key != w.key {
			continue
		}
		processes++
		switch one.phase {
		case starting:
			starts++
		case asked:
			calls++
		}
	}
	if w.grew || processes >= min(calls, p.cfg.Size) || time.Now().Before(k.until) || k.failures > 0 && starts > 0 ||
		p.life.Err() != nil || !p.mayStart() {
		return
	}
	w.grew = true
	p.begin(w)
}

// hand gives a ready process to the call that has waited longest. The caller holds mu.
func (p *Pool) hand(one *process) {
	if k := p.kindOf(one.key); len(k.waiting) > 0 {
		one.enters(asked)
		k.waiting[0].given <- one
		k.waiting = slices.Delete(k.waiting, 0, 1)
		return
	}
	one.enters(idle)
	one.timer = time.AfterFunc(p.cfg.IdleTimeout, one.expire)
	p.tell()
}

// addCold records that a waiting call goes cold. The caller holds mu.
func (p *Pool) addCold(w *waiter) {
	w.cold = &coldCall{w.name, time.Now()}
	p.colds = append(p.colds, w.cold)
}

// beginCold records that a call which a process could have answered goes cold, unless that was recorded when it
// left the queue.
func (p *Pool) beginCold(w *waiter) *coldCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.cold == nil {
		p.addCold(w)
	}
	return w.cold
}

// endCold records the end of a cold call. took is the time since the start of its CLI, or zero if the call was
// not answered.
func (p *Pool) endCold(c *coldCall, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.colds = slices.DeleteFunc(p.colds, func(other *coldCall) bool { return other == c })
	if took > 0 {
		p.paceOf(c.name).cold.add(took)
		for _, one := range p.all {
			one.bound()
		}
	}
	p.tell()
}
