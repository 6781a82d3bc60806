package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/clichain/clichain/internal/held"
	"github.com/clichain/clichain/runs"
)

// phase is the activity of a process of a pool.
type phase int

const (
	starting phase = iota
	idle
	asked
	refreshing // the process is being prepared for its next call
)

// process is a process of a pool.
type process struct {
	pool  *Pool
	key   string                  // of its kind
	name  string                  // of its backend
	calls int                     // maximum number of calls that it may answer
	grow  int64                   // maximum memory growth, in bytes
	stop  context.CancelCauseFunc // stops its start

	// Guarded by the pool's mu.
	cli    *held.CLI // nil while it is starting
	phase  phase
	since  time.Time // of the phase
	stuck  bool      // its end takes long, so it still counts toward MaxProcesses
	served int
	born   time.Time
	memory int64       // when it was ready for its second call; 0: unknown
	timer  *time.Timer // ends it when it has been starting or idle for too long
}

// enters sets the phase. The caller holds mu.
func (one *process) enters(to phase) {
	one.phase, one.since = to, time.Now()
	if one.timer != nil {
		one.timer.Stop()
	}
}

func (one *process) alive() bool {
	select {
	case <-one.cli.Gone():
		return false
	default:
		return true
	}
}

// mayStart reports whether one more process may start. If the limit is reached, it ends the process that has been idle
// for the longest time. The caller holds mu.
func (p *Pool) mayStart() bool {
	if len(p.all)+p.stuck < p.cfg.MaxProcesses {
		return true
	}
	var oldest *process
	for _, one := range p.all {
		if one.phase == idle && (oldest == nil || one.since.Before(oldest.since)) {
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
		return // already dropped, or Close will end it
	}
	p.all = slices.Delete(p.all, i, i+1)
	p.tell()
	if one.timer != nil {
		one.timer.Stop()
	}
	if one.stuck {
		p.stuck++
	}
	if one.cli != nil {
		p.jobs.Go(func() {
			one.close()
			p.mu.Lock()
			defer p.mu.Unlock()
			one.ended()
		})
	}
}

// ended records that a dropped process has ended completely. The caller holds mu.
func (one *process) ended() {
	if one.stuck {
		one.stuck = false
		one.pool.stuck--
		one.pool.tell()
	}
}

// begin starts a process for a call. Another call may get the process. The caller holds mu.
func (p *Pool) begin(w *waiter) {
	// The process outlives the call that starts it, and the call's registry key.
	ctx, stop := context.WithCancelCause(runs.WithKey(context.WithoutCancel(w.ctx), "", "warm process"))
	rules := w.Spec().Live
	one := &process{
		pool: p, key: w.key, name: w.name, stop: stop, born: time.Now(), since: time.Now(),
		calls: cmp.Or(p.cfg.MaxCalls, rules.Calls, defaultMaxCalls),
		grow:  cmp.Or(p.cfg.MaxGrowth, int64(cmp.Or(rules.GrowthMB, defaultGrowthMB))<<20),
	}
	p.all = append(p.all, one)
	p.stats.Started++
	one.bound()
	p.jobs.Go(func() { one.start(ctx, w) })
}

// start starts the process, and gives it to a call.
func (one *process) start(ctx context.Context, w *waiter) {
	p := one.pool
	defer one.stop(nil)
	defer context.AfterFunc(p.life, func() { one.stop(ErrClosed) })()
	cli, err := held.Hold(ctx, w.Provider, w.req, nil, false)
	if err == nil && !one.started(cli) { // too late
		cli.Kill(ErrClosed)
		err = ErrClosed
	}
	if err != nil && one.didNotStart() && p.cfg.StartFailed != nil {
		p.cfg.StartFailed(one.name, err)
	}
}

// didNotStart records a failed start. It returns false if the process was already dropped.
func (one *process) didNotStart() (news bool) {
	p := one.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if news = slices.Contains(p.all, one) && p.life.Err() == nil; news {
		p.failedOne(one.key)
		p.drop(one)
	}
	one.ended()
	return news
}

// started gives a process that is ready to a call. kept is false if the process was dropped in the meantime.
func (one *process) started(cli *held.CLI) (kept bool) {
	p := one.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if kept = slices.Contains(p.all, one) && p.life.Err() == nil; kept {
		cli.LeaveStuckTurns()
		one.cli = cli
		p.paceOf(one.name).start.add(time.Since(one.since))
		p.hand(one)
	}
	return kept
}

// bound limits a start to twice the usual time, if that is known. The caller holds mu.
func (one *process) bound() {
	p := one.pool
	patience := p.paceOf(one.name).patience()
	if one.phase != starting || one.timer != nil || patience == 0 {
		return
	}
	patience = max(patience, p.cfg.Wait) - time.Since(one.since)
	one.timer = time.AfterFunc(patience, one.giveUp)
}

// errSlowStart is the error of a process that was not ready in time.
var errSlowStart = errors.New("the live process was not ready after twice the usual start time")

// giveUp ends a process that does not start. The breaker then delays further starts of its kind.
func (one *process) giveUp() {
	if one.gaveUp() && one.pool.cfg.StartFailed != nil {
		one.pool.cfg.StartFailed(one.name, errSlowStart)
	}
}

func (one *process) gaveUp() bool {
	p := one.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if one.phase != starting || !slices.Contains(p.all, one) {
		return false
	}
	k := p.kindOf(one.key)
	k.failures = max(k.failures, breakAfter-1)
	p.failedOne(one.key)
	one.stuck = true
	p.drop(one)
	one.stop(errSlowStart)
	return true
}

// refreshTime limits the preparation for the next call.
const refreshTime = 10 * time.Second

// release returns a process after a call, in an empty context. It ends a process that has failed or is outdated.
func (one *process) release(good bool) {
	p := one.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	one.served++
	k := p.kindOf(one.key)
	if good {
		k.failures = 0
		k.turn.add(time.Since(one.since))
	} else {
		one.stuck = one.alive()
	}
	if !good || one.outdated() || p.life.Err() != nil {
		p.drop(one)
		return
	}
	one.enters(refreshing)
	p.jobs.Go(one.refresh)
}

// outdated reports whether the process has answered its maximum number of calls, or has the maximum age. The caller
// holds mu.
func (one *process) outdated() bool {
	return one.served >= one.calls || time.Since(one.born) >= one.pool.cfg.MaxAge
}

// refresh prepares the process for its next call in the background.
func (one *process) refresh() {
	p := one.pool
	ctx, cancel := context.WithTimeout(p.life, refreshTime)
	err := one.cli.Fresh(ctx)
	cancel()
	size, known := one.cli.Memory()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil || known && one.grown(size) || p.life.Err() != nil {
		p.drop(one)
		return
	}
	p.kindOf(one.key).fresh.add(time.Since(one.since))
	p.hand(one)
}

// grown reports whether the memory has grown too much since the first measurement. The caller holds mu.
func (one *process) grown(size int64) bool {
	if one.memory == 0 {
		one.memory = size
	}
	return size-one.memory > one.grow
}

// expire ends a process that was idle for too long.
func (one *process) expire() {
	one.pool.mu.Lock()
	defer one.pool.mu.Unlock()
	if one.phase == idle {
		one.pool.drop(one)
	}
}

// close ends the process, and records whether it may not have ended completely.
func (one *process) close() {
	p := one.pool
	p.mu.Lock()
	cli := one.cli
	if one.timer != nil {
		one.timer.Stop()
	}
	p.mu.Unlock()
	if cli == nil {
		return // the goroutine that starts it ends it
	}
	cli.Close()
	if r := cli.Result(); !r.TreeClean {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.left = append(p.left, fmt.Sprintf("%s (process %d)", one.name, r.Pid))
	}
}
