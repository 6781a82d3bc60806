package live

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/internal/held"
)

// process is one of a pool.
type process struct {
	pool  *Pool
	key   string // of its kind
	name  string // of its backend
	calls int    // the most it may answer

	// Guarded by the pool's mu.
	cli    *held.CLI // nil: it starts
	busy   bool
	served int
	since  time.Time // it was needed last
	born   time.Time
	timer  *time.Timer // ends it when it has waited for too long
}

// take finds a free process of a kind, or room for a new one, which is then nil inside.
// nil: there is neither.
func (p *Pool) take(key, name string, calls int) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil {
		return nil
	}
	ofKind := 0
	for _, one := range p.all {
		if one.key != key {
			continue
		}
		if ofKind++; !one.busy && one.alive() {
			one.busy = true
			one.timer.Stop()
			return one
		}
	}
	if ofKind >= p.cfg.Size || time.Now().Before(p.kindOf(key).until) || !p.room() {
		return nil
	}
	one := &process{pool: p, key: key, name: name, calls: calls, busy: true, born: time.Now()}
	p.all = append(p.all, one)
	p.stats.Started++
	return one
}

func (one *process) alive() bool {
	select {
	case <-one.cli.Gone():
		return false
	default:
		return true
	}
}

// room makes sure that one more process may run: where there are as many as may, the one
// that was not needed for the longest time has to go. The caller holds mu.
func (p *Pool) room() bool {
	if len(p.all) < p.cfg.MaxProcesses {
		return true
	}
	var oldest *process
	for _, one := range p.all {
		if !one.busy && (oldest == nil || one.since.Before(oldest.since)) {
			oldest = one
		}
	}
	if oldest == nil {
		return false
	}
	p.drop(oldest)
	return true
}

// drop ends a process in the background. The caller holds mu.
func (p *Pool) drop(one *process) {
	i := slices.Index(p.all, one)
	if i < 0 {
		return // somebody has done so
	}
	p.all = slices.Delete(p.all, i, i+1)
	if one.timer != nil {
		one.timer.Stop()
	}
	if one.cli != nil {
		p.jobs.Go(one.cli.Close)
	}
}

// start starts the process for a request.
func (one *process) start(ctx context.Context, b *backend, req clichain.Request) error {
	cli, err := b.Provider.Hold(ctx, req, nil)
	one.pool.mu.Lock()
	defer one.pool.mu.Unlock()
	if err != nil {
		one.pool.drop(one)
		return err
	}
	one.cli = cli
	return nil
}

// refreshTime bounds the preparation for the next call.
const refreshTime = 10 * time.Second

// release gives a process back after a call, in a context in which nothing was said. One
// that was asked often enough, or is old, or failed, is ended.
func (one *process) release(good bool) {
	p := one.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	one.served++
	if !good || one.served >= one.calls || time.Since(one.born) > p.cfg.MaxAge || p.life.Err() != nil {
		p.drop(one)
		return
	}
	p.kindOf(one.key).failures = 0
	p.jobs.Go(one.refresh)
}

// refresh prepares the process for its next call, in nobody's time.
func (one *process) refresh() {
	p := one.pool
	ctx, cancel := context.WithTimeout(p.life, refreshTime)
	err := one.cli.Fresh(ctx)
	cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.drop(one)
		return
	}
	one.busy, one.since = false, time.Now()
	one.timer = time.AfterFunc(p.cfg.IdleTimeout, one.expire)
}

// expire ends a process that nobody needed for too long.
func (one *process) expire() {
	one.pool.mu.Lock()
	defer one.pool.mu.Unlock()
	if !one.busy {
		one.pool.drop(one)
	}
}

// close ends the process when its pool is closed.
func (one *process) close() {
	one.pool.mu.Lock()
	cli := one.cli
	if one.timer != nil {
		one.timer.Stop()
	}
	one.pool.mu.Unlock()
	if cli != nil {
		cli.Close()
	}
}

// left says that something of the process may be left; "": nothing is.
func (one *process) left() string {
	if one.cli == nil || one.cli.Result().TreeClean {
		return ""
	}
	return fmt.Sprintf("%s (process %d)", one.name, one.cli.Result().Pid)
}
