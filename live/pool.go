package live

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
)

// PoolConfig sets how many processes a [Pool] keeps, and for how long. The zero value
// works.
type PoolConfig struct {
	// Size bounds the processes of one kind: those that differ in nothing that they were
	// started with, such as access, directory and model. There are never more of a kind
	// than calls at once. Zero: 4.
	Size int
	// MaxProcesses bounds all of them: one takes 150 to 650 MB. For another kind, the one
	// that was not needed for the longest time is ended. Zero: four times Size, and 8
	// without one.
	MaxProcesses int
	// Wait is how long a call waits for a process where none is free, and then goes cold.
	// Zero: as long as the wait is expected to be shorter than a cold start, by what the
	// pool has measured; the first call of a backend, of which nothing is known, goes cold
	// while its process starts. Negative: not at all.
	Wait time.Duration
	// IdleTimeout is how long a process may wait for its next call. Zero: 5 min.
	IdleTimeout time.Duration
	// MaxAge is when a process is replaced by a new one. Zero: an hour.
	MaxAge time.Duration
	// MaxCalls is after how many calls it is, and MaxGrowth after how many bytes more than
	// it had when it was ready for its second call, where that can be told. Zero: what the
	// spec says.
	MaxCalls  int
	MaxGrowth int64
	// StartFailed is called with the backend and the error of a process that did not start,
	// or was not ready in time. The calls that it was for go cold. It may be called at once
	// by several goroutines, and must return soon. Nil: nothing is called.
	StartFailed func(backend string, err error)
}

const (
	defaultSize        = 4
	defaultProcesses   = 8
	defaultIdleTimeout = 5 * time.Minute
	defaultMaxAge      = time.Hour
	defaultMaxCalls    = 100
	defaultGrowthMB    = 256
)

// ErrClosed is the cause of a call that the Close of its pool ended.
var ErrClosed = errors.New("live: the pool was closed")

// Pool keeps processes of CLIs warm. Its backends answer as those that it was made of,
// sooner: each call is a turn of a process that runs already, in a context in which
// nothing was said before. What a process cannot do, such as going on from a session, is
// a cold call, and so are all calls with AccessWrite or AccessFull, because what a tool
// leaves running must not outlive a call, and whatever a process fails at by itself. Make it with [NewPool].
// It is safe for concurrent use, and must be closed.
type Pool struct {
	cfg      PoolConfig
	backends []clichain.Backend
	life     context.Context
	end      context.CancelCauseFunc
	jobs     sync.WaitGroup // of the pool's own

	mu    sync.Mutex
	ready chan struct{} // closed, and made anew, when what a call waits for has changed
	all   []*process
	stuck int // processes that are ended, and count among those that may run until they are
	kinds map[string]*kind
	paces map[string]*pace // by the name of a backend
	colds []*coldCall
	cpus  int
	stats Stats
	left  []string // for the report
}

// tell wakes the calls that wait for a process. The caller holds mu.
func (p *Pool) tell() {
	close(p.ready)
	p.ready = make(chan struct{})
}

// Stats counts what a pool has done. A plain value.
type Stats struct {
	Processes int // that run
	Busy      int // of those: asked, or being made ready for the next call
	Started   int // processes so far
	Warm      int // calls that a process answered or refused
	Cold      int // calls that went cold
}

// kind is what is remembered of processes of one kind.
type kind struct {
	failures int       // in a row; fewer as time goes by
	until    time.Time // none is started before
	turn     mean      // of those that were answered
	fresh    mean      // to prepare a process for its next call
	waiting  []*waiter // the first one first
}

// NewPool makes a pool of backends. Nothing is started before the first call. A nil cfg
// means defaults.
func NewPool(providers []*clichain.Provider, cfg *PoolConfig) *Pool {
	p := &Pool{
		kinds: map[string]*kind{}, paces: map[string]*pace{}, ready: make(chan struct{}), cpus: runtime.GOMAXPROCS(0),
	}
	if cfg != nil {
		p.cfg = *cfg
	}
	if p.cfg.Size == 0 {
		p.cfg.Size, p.cfg.MaxProcesses = defaultSize, cmp.Or(p.cfg.MaxProcesses, defaultProcesses)
	}
	p.cfg.MaxProcesses = cmp.Or(p.cfg.MaxProcesses, 4*p.cfg.Size)
	p.cfg.IdleTimeout = cmp.Or(p.cfg.IdleTimeout, defaultIdleTimeout)
	p.cfg.MaxAge = cmp.Or(p.cfg.MaxAge, defaultMaxAge)
	p.life, p.end = context.WithCancelCause(context.Background())
	for _, provider := range providers {
		p.backends = append(p.backends, &backend{provider, p})
	}
	return p
}

// Backends are the backends of the pool, in the order of those that it was made of, for
// a chain or for themselves.
func (p *Pool) Backends() []clichain.Backend { return slices.Clone(p.backends) }

// Stats says what the pool has done so far.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Processes = len(p.all)
	for _, one := range p.all {
		if one.phase != idle {
			s.Busy++
		}
	}
	return s
}

// Report says what the Close of a pool came to. A plain value.
type Report struct {
	Ended int // processes that were ended
	// Left are those of which something may be left, by their backend and process id.
	Left []string
}

// Close ends all processes, the calls that go on among them, and returns when nothing of
// them is left, in 15 s at most. Calls that come later go cold.
func (p *Pool) Close() Report {
	p.end(ErrClosed)
	p.mu.Lock()
	all := slices.Clone(p.all)
	p.tell()
	p.mu.Unlock()
	var ending sync.WaitGroup
	for _, one := range all {
		ending.Go(one.close)
	}
	ending.Wait()
	p.jobs.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = nil
	return Report{Ended: len(all), Left: slices.Clone(p.left)}
}

// The breaker of a kind: how long none is started after so many failures in a row.
const (
	breakAfter = 3
	breakFor   = 30 * time.Second
	maxBreak   = 10 * time.Minute
	forgetOne  = time.Minute // a failure
)

// failed notes that a process did not start, or ended by itself.
func (p *Pool) failed(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failedOne(key)
}

// failedOne is failed for a caller that holds mu.
func (p *Pool) failedOne(key string) {
	k := p.kindOf(key)
	if k.failures++; k.failures >= breakAfter {
		k.until = time.Now().Add(min(breakFor<<min(k.failures-breakAfter, 10), maxBreak))
	}
	at := k.failures
	time.AfterFunc(time.Duration(at)*forgetOne, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		k.failures = max(k.failures-1, 0)
	})
}

// kindOf is what is remembered of a kind. The caller holds mu.
func (p *Pool) kindOf(key string) *kind {
	k := p.kinds[key]
	if k == nil {
		k = &kind{}
		p.kinds[key] = k
	}
	return k
}

// paceOf is what was measured of a backend. The caller holds mu.
func (p *Pool) paceOf(name string) *pace {
	c := p.paces[name]
	if c == nil {
		c = &pace{}
		p.paces[name] = c
	}
	return c
}
