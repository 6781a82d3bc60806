package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/runs"
)

// process is one of a pool.
type process struct {
	pool  *Pool
	key   string // of its kind
	name  string // of its backend
	calls int    // the most it may answer
	grow  int64  // the bytes that it may grow by

	// Guarded by the pool's mu.
	cli    *held.CLI // nil: it starts
	busy   bool
	soon   bool // busy with being made ready
	served int
	since  time.Time // it was needed last
	born   time.Time
	memory int64       // when it was ready for its second call; 0: unknown
	timer  *time.Timer // ends it when it has waited for too long
}

// take finds a free process of a kind, or room for a new one, which is then nil inside.
// nil: there is neither, nor will be soon.
func (p *Pool) take(ctx context.Context, key, name string, rules *clispec.LiveRules) *process {
	limit := time.NewTimer(p.cfg.Wait)
	defer limit.Stop()
	for {
		one, wait := p.find(key, name, rules)
		if wait == nil {
			return one
		}
		select {
		case <-wait:
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// find is take without waiting. wait is not nil where a process is soon free, and
// closed when one may be.
func (p *Pool) find(key, name string, rules *clispec.LiveRules) (one *process, wait <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil {
		return nil, nil
	}
	ofKind, soon := 0, false
	for _, one := range slices.Clone(p.all) {
		switch {
		case one.key != key:
			continue
		case !one.busy && !one.alive(): // it has died in its sleep
			p.drop(one)
			continue
		case !one.busy:
			one.busy = true
			one.timer.Stop()
			return one, nil
		}
		ofKind++
		soon = soon || one.soon
	}
	if ofKind >= p.cfg.Size && soon {
		return nil, p.ready
	}
	if ofKind >= p.cfg.Size || time.Now().Before(p.kindOf(key).until) || !p.room() {
		return nil, nil
	}
	one = &process{
		pool: p, key: key, name: name, busy: true, born: time.Now(),
		calls: cmp.Or(p.cfg.MaxCalls, rules.Calls, defaultMaxCalls),
		grow:  cmp.Or(p.cfg.MaxGrowth, int64(cmp.Or(rules.GrowthMB, defaultGrowthMB))<<20),
	}
	p.all = append(p.all, one)
	p.stats.Started++
	p.jobs.Add(1) // its start
	return one, nil
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

// drop ends a process in the background, unless Close does. The caller holds mu.
func (p *Pool) drop(one *process) {
	i := slices.Index(p.all, one)
	if i < 0 || p.life.Err() != nil {
		return // somebody has done so, or will
	}
	p.all = slices.Delete(p.all, i, i+1)
	p.tell()
	if one.timer != nil {
		one.timer.Stop()
	}
	if one.cli != nil {
		p.jobs.Go(one.close)
	}
}

// start starts the process for a request.
func (one *process) start(ctx context.Context, b *backend, req clichain.Request) error {
	p := one.pool
	defer p.jobs.Done()
	// It outlives the call that starts it, and its key.
	cli, err := b.Provider.Hold(runs.WithKey(ctx, "", "warm process"), req, nil)
	if err == nil && p.life.Err() != nil {
		cli.Kill(ErrClosed)
		err = &clichain.BackendError{Backend: one.name, Reason: clichain.ReasonCanceled, ExitCode: -1, Err: ErrClosed}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.drop(one)
		return err
	}
	one.cli = cli
	return nil
}

// forgo gives a process back that was not asked.
func (one *process) forgo() {
	if one.cli != nil {
		one.release(true)
		return
	}
	defer one.pool.jobs.Done()
	one.pool.mu.Lock()
	defer one.pool.mu.Unlock()
	one.pool.drop(one)
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
	one.soon = true
	p.jobs.Go(one.refresh)
}

// refresh prepares the process for its next call, in nobody's time.
func (one *process) refresh() {
	p := one.pool
	ctx, cancel := context.WithTimeout(p.life, refreshTime)
	err := one.cli.Fresh(ctx)
	cancel()
	size, known := one.cli.Memory()
	p.mu.Lock()
	defer p.mu.Unlock()
	one.soon = false
	if known && one.memory == 0 {
		one.memory = size
	}
	if err != nil || known && size-one.memory > one.grow {
		p.drop(one)
		return
	}
	one.busy, one.since = false, time.Now()
	p.tell()
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

// close ends the process, and notes what may be left of it.
func (one *process) close() {
	p := one.pool
	p.mu.Lock()
	cli := one.cli
	if one.timer != nil {
		one.timer.Stop()
	}
	p.mu.Unlock()
	if cli == nil {
		return // who starts it ends it
	}
	cli.Close()
	if r := cli.Result(); !r.TreeClean {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.left = append(p.left, fmt.Sprintf("%s (process %d)", one.name, r.Pid))
	}
}
