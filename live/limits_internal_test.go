package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPoolDefaults(t *testing.T) {
	t.Parallel()
	limits := func(cfg *PoolConfig) [2]int {
		p := NewPool(nil, cfg)
		require.Equal(t, 5*time.Minute, p.cfg.IdleTimeout)
		return [2]int{p.cfg.Size, p.cfg.MaxProcesses}
	}
	require.Equal(t, [2]int{4, 8}, limits(nil))
	require.Equal(t, [2]int{4, 5}, limits(&PoolConfig{MaxProcesses: 5}))
	require.Equal(t, [2]int{3, 12}, limits(&PoolConfig{Size: 3}))
	require.Equal(t, [2]int{3, 5}, limits(&PoolConfig{Size: 3, MaxProcesses: 5}))
}

func TestPoolStatsOfPhases(t *testing.T) {
	t.Parallel()
	p := simulated(PoolConfig{}, starting, idle, asked, refreshing)
	require.Equal(t, Stats{Processes: 4, Busy: 3}, p.Stats())
}

// If the limit of all processes is reached, the process that has been idle for the longest time ends.
func TestPoolLimitsProcesses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		most      int
		stuck     int
		processes []activity
		ok        bool
		dropped   int // 0: none, 1: the first
	}{
		"below the limit":        {most: 2, processes: []activity{{phase: asked}}, ok: true},
		"one is ending":          {most: 2, stuck: 1, processes: []activity{{phase: asked}}},
		"none is idle":           {most: 3, processes: []activity{{phase: starting}, {phase: asked}, {phase: refreshing}}},
		"one is idle":            {most: 2, processes: []activity{{phase: asked, age: time.Hour}, {phase: idle}}, ok: true, dropped: 2},
		"the first is the older": {most: 2, processes: []activity{{phase: idle, age: 2}, {phase: idle, age: 1}}, ok: true, dropped: 1},
		"the last is the older":  {most: 2, processes: []activity{{phase: idle, age: 1}, {phase: idle, age: 2}}, ok: true, dropped: 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := busyPool(PoolConfig{MaxProcesses: test.most}, time.Now(), test.processes...)
			p.stuck = test.stuck
			var want []*process
			for i, one := range p.all {
				if i+1 != test.dropped {
					want = append(want, one)
				}
			}
			require.Equal(t, test.ok, p.mayStart())
			require.Equal(t, want, p.all)
		})
	}
}

// A waiting call starts at most one process.
func TestPoolStartsProcessForWaitingCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		processes []activity
		waiting   int
		size      int // zero: 4
		most      int // of all kinds
		failures  int
		broken    bool
		closed    bool
		want      int
	}{
		"the first call":                   {waiting: 1, want: 1},
		"the first calls":                  {waiting: 2, want: 1},
		"a process starts for the call":    {processes: []activity{{phase: starting}}, waiting: 1},
		"a process starts for one of two":  {processes: []activity{{phase: starting}}, waiting: 2, want: 1},
		"the process is busy":              {processes: []activity{{phase: asked}}, waiting: 1, want: 1},
		"the process is nearly ready":      {processes: []activity{{phase: refreshing}}, waiting: 1},
		"the kind has its processes":       {processes: []activity{{phase: asked}, {phase: asked}}, waiting: 2, size: 2},
		"another kind has its processes":   {processes: []activity{{phase: asked, key: "other"}}, waiting: 1, size: 1, want: 1},
		"all kinds have their processes":   {processes: []activity{{phase: asked, key: "other"}}, waiting: 1, most: 1},
		"another starts after a failure":   {processes: []activity{{phase: starting}}, waiting: 2, failures: 1},
		"none starts after a failure":      {processes: []activity{{phase: asked}}, waiting: 1, failures: 1, want: 1},
		"the kind has failed too often":    {waiting: 1, broken: true},
		"the pool has been closed already": {waiting: 1, closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := busyPool(PoolConfig{MaxProcesses: test.most}, time.Now(), test.processes...)
			p.cfg.Size = 4
			if test.size > 0 {
				p.cfg.Size = test.size
			}
			w := &waiter{backend: calling(p), ctx: t.Context(), name: "b", key: "k"}
			k := p.kindOf("k")
			k.waiting, k.failures = append(make([]*waiter, test.waiting-1), w), test.failures
			if !test.broken {
				k.until = time.Time{}
			}
			if test.closed {
				p.end(ErrClosed)
			}
			p.mu.Lock()
			p.grow(w)
			p.grow(w)
			require.Equal(t, test.want, p.stats.Started)
			p.mu.Unlock()
			p.end(ErrClosed)
			p.jobs.Wait()
		})
	}
}

// The kind of a process that does not start has failed once.
func TestPoolRecordsFailedStart(t *testing.T) {
	t.Parallel()
	var told []string
	p := simulated(PoolConfig{StartFailed: func(backend string, err error) {
		require.Error(t, err)
		told = append(told, backend)
	}})
	k := p.kindOf("k")
	k.until = time.Time{}
	w := &waiter{backend: calling(p), ctx: t.Context(), name: "b", key: "k"}
	p.mu.Lock()
	k.waiting = []*waiter{w}
	p.grow(w)
	p.mu.Unlock()
	p.jobs.Wait()
	require.Equal(t, []string{"b"}, told)
	require.Equal(t, 1, k.failures)
	require.Empty(t, p.all)
}

func TestPoolEndsIdleProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := simulated(PoolConfig{}, asked)
		one := p.all[0]
		processes := func() int { synctest.Wait(); return p.Stats().Processes }
		p.mu.Lock()
		p.hand(one)
		p.mu.Unlock()
		time.Sleep(5*time.Minute - time.Nanosecond)
		require.Equal(t, 1, processes())
		time.Sleep(time.Nanosecond)
		require.Zero(t, processes())

		p = simulated(PoolConfig{}, asked)
		p.all[0].expire()
		require.Equal(t, 1, processes(), "a call has received it in the meantime")
	})
}

func TestProcessIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one := &process{pool: NewPool(nil, nil), calls: 3, born: time.Now()}
		for served, want := range []bool{false, false, false, true, true} {
			one.served = served
			require.Equal(t, want, one.outdated(), served)
		}
		one.served = 0
		time.Sleep(time.Hour - time.Nanosecond)
		require.False(t, one.outdated())
		time.Sleep(time.Nanosecond)
		require.True(t, one.outdated())
	})
}

// The growth is that since the first measurement.
func TestProcessMemoryGrowth(t *testing.T) {
	t.Parallel()
	one := &process{grow: 50}
	for _, step := range []struct {
		size int64
		want bool
	}{{100, false}, {90, false}, {150, false}, {151, true}} {
		require.Equal(t, step.want, one.grown(step.size), step.size)
	}
}

// Only an answered cold call is a measurement.
func TestPoolMeasuresColdCalls(t *testing.T) {
	t.Parallel()
	p := simulated(PoolConfig{})
	first, second := &waiter{name: "b", key: "k"}, &waiter{name: "b", key: "k"}
	one, other := p.beginCold(first), p.beginCold(second)
	require.Same(t, one, p.beginCold(first), "it has begun")
	require.Equal(t, []*coldCall{one, other}, p.colds)
	p.endCold(one, 0)
	require.Equal(t, []*coldCall{other}, p.colds)
	require.Zero(t, *p.paceOf("b"))
	p.endCold(other, time.Second)
	require.Empty(t, p.colds)
	require.Equal(t, pace{cold: mean(time.Second)}, *p.paceOf("b"))
}
