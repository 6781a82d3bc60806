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

// PoolConfig sets how many processes a [Pool] keeps, and for how long. The zero value works.
type PoolConfig struct {
	// Size limits the processes of one kind. Processes of one kind were started with the same settings, such as
	// access, directory and model. There are never more processes of a kind than concurrent calls. Zero means
	// 4.
	Size int
	// MaxProcesses limits all processes; one takes 150 to 650 MB. If another kind needs a process, the pool
	// ends the process that has been idle for the longest time. Zero means four times Size, or 8 if Size is
	// zero as well.
	MaxProcesses int
	// Wait is how long a call waits for a free process before it goes cold. Zero means as long as the expected
	// wait is shorter than a cold start, according to the measurements of the pool. The first call of a backend,
	// for which there are no measurements, goes cold while a process starts. A negative value means no wait.
	Wait time.Duration
	// IdleTimeout is how long a process may wait for its next call. Zero means 5 min.
	IdleTimeout time.Duration
	// MaxAge is the age at which a process is replaced. Zero means one hour.
	MaxAge time.Duration
	// MaxCalls is the number of calls after which a process is replaced. MaxGrowth is the memory growth in
	// bytes after which it is replaced, counted from when it was ready for its second call, on systems that
	// report memory. Zero means the value in the spec.
	MaxCalls  int
	MaxGrowth int64
	// StartFailed is called with the name of the backend and the error of a process that did not start, or was
	// not ready in time. The calls that waited for the process go cold. Several goroutines may call StartFailed
	// concurrently, and it must return quickly. If nil, nothing is called.
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

// ErrClosed is the cause of a call that Close of its pool ended.
var ErrClosed = errors.New("live: the pool was closed")

// Pool keeps processes of CLIs warm. Its backends give the same answers as the backends that it was made from,
// but faster: each call is a turn of a running process, in an empty context. A call that a process cannot
// answer, such as one that continues a session, is a cold call, which starts the CLI. So is every call with
// AccessWrite or AccessFull, because processes that a tool started must not outlive the call. If a process
// fails on its own, a cold call follows. Create a Pool with [NewPool]. It is safe for concurrent use, and must
// be closed.
type Pool struct {
	cfg      PoolConfig
	backends []clichain.Backend
	life     context.Context
	end      context.CancelCauseFunc
	jobs     sync.WaitGroup // goroutines of the pool

	mu    sync.Mutex
	ready chan struct{} // closed and replaced when a waiting call must check again
	all   []*process
	stuck int // processes that are being ended, which count toward MaxProcesses
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

// Stats counts what a pool has done.
type Stats struct {
	Processes int // running processes
	Busy      int // running processes that are answering, or being prepared for the next call
	Started   int // processes started so far
	Warm      int // calls that a process answered or refused
	Cold      int // calls that went cold
}

// kind contains what is known about the processes of one kind.
type kind struct {
	failures int       // consecutive failures; decreases over time
	until    time.Time // no process of the kind starts before this time
	turn     mean      // duration of successful turns
	fresh    mean      // time to prepare a process for its next call
	waiting  []*waiter // in order of arrival
}

// NewPool returns a pool of backends. It starts no process before the first call. A nil cfg means defaults.
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

// Backends returns the backends of the pool, in the order of the providers, for use in a chain or alone.
func (p *Pool) Backends() []clichain.Backend { return slices.Clone(p.backends) }

// Stats returns what the pool has done so far.
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

// Report is the result of closing a pool.
type Report struct {
	Ended int // processes that were ended
	// Left lists the backend and process ID of each process that may not have ended completely.
	Left []string
}

// Close ends all processes, and the calls in flight with them. It returns when no process is left, within at
// most 15 s. Later calls go cold.
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

// The breaker of a kind: for how long no process starts after consecutive failures.
const (
	breakAfter = 3
	breakFor   = 30 * time.Second
	maxBreak   = 10 * time.Minute
	forgetOne  = time.Minute // time after which one failure is forgotten
)

// failed records that a process did not start, or ended on its own.
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

// kindOf returns what is known about a kind. The caller holds mu.
func (p *Pool) kindOf(key string) *kind {
	k := p.kinds[key]
	if k == nil {
		k = &kind{}
		p.kinds[key] = k
	}
	return k
}

// paceOf returns the measurements of a backend. The caller holds mu.
func (p *Pool) paceOf(name string) *pace {
	c := p.paces[name]
	if c == nil {
		c = &pace{}
		p.paces[name] = c
	}
	return c
}
