package live

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// simulated returns a pool on a machine with two processors, whose processes of the kind "k" of the backend "b"
// are in the given phases. Only time passes; nothing is started.
func simulated(cfg PoolConfig, phases ...phase) *Pool {
	cfg.Size = max(len(phases), 1)
	p := NewPool(nil, &cfg)
	p.cpus = 2
	p.kindOf("k").until = time.Now().Add(time.Hour) // no further process is started
	for _, at := range phases {
		one := &process{pool: p, key: "k", name: "b", born: time.Now(), stop: func(error) {}}
		one.enters(at)
		p.all = append(p.all, one)
	}
	return p
}

// calling returns a backend that receives no call.
func calling(p *Pool) *backend {
	return &backend{clichain.NewProvider(clichain.CliSpec{Name: "b"}, nil), p}
}

// came is the result of a simulated call.
type came struct {
	warm  bool
	after time.Duration
}

// asks lets a simulated call wait, and then use its process for a turn and its refresh.
func asks(ctx context.Context, p *Pool, turn, fresh time.Duration) (c came) {
	began := time.Now()
	w := p.enter(ctx, calling(p), "k", clichain.Request{})
	one := p.wait(ctx, w)
	c = came{one != nil, time.Since(began)}
	if one == nil {
		return c
	}
	ends(one, turn, fresh)
	return c
}

// ends ends the turn of a process, and its refresh.
func ends(one *process, turn, fresh time.Duration) {
	p := one.pool
	time.Sleep(turn)
	p.mu.Lock()
	p.kindOf("k").turn.add(time.Since(one.since))
	one.enters(refreshing)
	p.mu.Unlock()
	time.Sleep(fresh)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kindOf("k").fresh.add(time.Since(one.since))
	p.hand(one)
}

const (
	ms    = time.Millisecond
	quick = 500 * ms // duration of a start
)

// A call waits for a busy process if the wait is expected to be shorter than a cold start.
func TestPoolWaitTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg    PoolConfig
		phases []phase
		pace   pace
		turn   time.Duration // measured
		ctx    time.Duration // of the call; zero: no limit
		failed int           // failures of the kind
		want   came          // if nothing becomes free
	}{
		"the turn is nearly over":               {phases: []phase{asked}, pace: pace{start: mean(quick)}, turn: 50 * ms, want: came{after: 550 * ms}},
		"the turn is longer than a start":       {phases: []phase{asked}, pace: pace{start: mean(quick)}, turn: 2 * time.Second, want: came{}},
		"no turn was measured":                  {phases: []phase{asked}, pace: pace{start: mean(quick)}, want: came{after: quick}},
		"a refresh":                             {phases: []phase{refreshing}, pace: pace{start: mean(quick)}, want: came{after: quick}},
		"a start that is late":                  {phases: []phase{starting}, pace: pace{start: mean(quick)}, want: came{after: 2 * quick}},
		"a start that was measured by its cold": {phases: []phase{starting}, pace: pace{cold: mean(quick)}, want: came{after: 2 * quick}},
		"four starts share two processors":      {phases: []phase{starting, starting, starting, starting}, pace: pace{start: mean(quick)}, want: came{after: quick + quick*5/2}},
		"a start after failures":                {phases: []phase{starting}, pace: pace{start: mean(quick)}, failed: breakAfter, want: came{}},
		"nothing was measured":                  {phases: []phase{starting}, want: came{}},
		"there is no process":                   {pace: pace{start: mean(quick)}, want: came{}},
		"a time was set":                        {cfg: PoolConfig{Wait: time.Minute}, phases: []phase{asked}, turn: time.Hour, want: came{after: time.Minute}},
		"no time was set":                       {cfg: PoolConfig{Wait: -1}, phases: []phase{asked}, pace: pace{start: mean(quick)}, turn: ms, want: came{}},
		"the call ends":                         {phases: []phase{asked}, pace: pace{start: mean(quick)}, turn: 50 * ms, ctx: 20 * ms, want: came{after: 20 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := simulated(test.cfg, test.phases...)
				*p.paceOf("b"), p.kindOf("k").turn = test.pace, mean(test.turn)
				p.kindOf("k").failures = test.failed
				ctx := t.Context()
				if test.ctx > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.ctx)
					defer cancel()
				}
				got := asks(ctx, p, 0, 0)
				require.False(t, got.warm)
				require.InDelta(t, test.want.after, got.after, float64(5*ms))
				p.mu.Lock()
				defer p.mu.Unlock()
				require.Empty(t, p.kindOf("k").waiting)
			})
		})
	}
}

// Sixteen callers share four processes without a cold start. If there are too many callers, some go cold, but
// few at the same time, because starts share the processors.
func TestPoolLimitsColdCallsOfCrowd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		callers, least, most int // cold calls
	}{"sixteen": {16, 0, 0}, "a hundred": {100, 4, 16}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := simulated(PoolConfig{}, asked, asked, asked, asked)
				p.paceOf("b").start = mean(quick)
				p.kindOf("k").turn, p.kindOf("k").fresh = mean(50*ms), mean(10*ms)
				for _, one := range p.all {
					go ends(one, 50*ms, 10*ms)
				}
				results := make(chan came, test.callers)
				for range test.callers {
					go func() { results <- asks(t.Context(), p, 50*ms, 10*ms) }()
				}
				cold, longest := 0, time.Duration(0)
				for range test.callers {
					c := <-results
					if longest = max(longest, c.after); !c.warm {
						cold++
					}
				}
				require.GreaterOrEqual(t, cold, test.least)
				require.LessOrEqual(t, cold, test.most)
				require.LessOrEqual(t, longest, time.Duration((test.callers+3)/4)*60*ms)
				p.end(nil) // the idle processes need no end
				for _, one := range p.all {
					one.timer.Stop()
				}
			})
		})
	}
}

// Without measurements of a backend, one call goes cold. The others wait until it has measured a start, or
// until a process is ready. If the cold call fails, another call goes cold.
func TestPoolFirstCallsWithoutMeasurements(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		took      time.Duration // duration of the cold call; zero: it failed
		ready     time.Duration // when the process is ready; zero: never
		warm      int           // number of warm calls among the other nine
		coldAfter time.Duration // when the others go cold, at the latest
	}{
		"the process is ready":       {took: 600 * ms, ready: 550 * ms, warm: 9},
		"the process is never ready": {took: 100 * ms, coldAfter: 700 * ms},
		"cold calls fail":            {took: 0, coldAfter: time.Second},
		"cold call does not end":     {took: time.Hour, coldAfter: assumedStart},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := simulated(PoolConfig{}, starting)
				first := p.enter(t.Context(), calling(p), "k", clichain.Request{})
				require.NotNil(t, first.cold, "at once")
				results := make(chan came, 9)
				for range 9 {
					go func() {
						began := time.Now()
						w := p.enter(t.Context(), calling(p), "k", clichain.Request{})
						one := p.wait(t.Context(), w)
						c := came{one != nil, time.Since(began)}
						if one != nil {
							ends(one, 20*ms, 5*ms)
						} else {
							time.Sleep(100 * ms)
							p.endCold(w.cold, test.took)
						}
						results <- c
					}()
				}
				synctest.Wait()
				p.mu.Lock()
				require.Len(t, p.kindOf("k").waiting, 9)
				p.mu.Unlock()
				var running sync.WaitGroup
				defer running.Wait()
				running.Go(func() {
					time.Sleep(max(test.took, 10*ms))
					p.endCold(first.cold, test.took)
				})
				if test.ready > 0 {
					time.Sleep(test.ready)
					p.mu.Lock()
					p.paceOf("b").start.add(test.ready)
					p.hand(p.all[0])
					p.mu.Unlock()
				}
				warm := 0
				for range 9 {
					c := <-results
					if c.warm {
						warm++
						continue
					}
					require.LessOrEqual(t, c.after, test.coldAfter)
				}
				require.Equal(t, test.warm, warm)
				p.end(nil) // nothing else is to be done
			})
		})
	}
}

// A process that is not ready after twice the usual time is dropped, and the breaker delays further starts of
// its kind: its calls go cold at once.
func TestPoolDropsSlowStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := simulated(PoolConfig{MaxProcesses: 1}, starting)
		k := p.kindOf("k")
		k.until = time.Time{}
		var stopped error
		one := p.all[0]
		one.stop = func(err error) { stopped = err }
		w := &waiter{name: "b", key: "k"}
		time.Sleep(time.Second)
		p.endCold(p.beginCold(w), 3*time.Second)
		time.Sleep(5*time.Second - ms)
		p.mu.Lock()
		require.NoError(t, stopped)
		p.mu.Unlock()
		time.Sleep(2 * ms)
		p.mu.Lock()
		require.ErrorIs(t, stopped, errSlowStart)
		require.Empty(t, p.all)
		require.False(t, p.mayStart(), "the process has not ended yet")
		one.ended()
		require.True(t, p.mayStart())
		require.InDelta(t, breakFor, time.Until(k.until), float64(ms))
		p.mu.Unlock()
		require.Equal(t, came{}, asks(t.Context(), p, 0, 0))
	})
}

// A process that is handed to a call whose context ends at that moment goes to the next call.
func TestPoolReassignsProcessOfEndedCall(t *testing.T) {
	t.Parallel()
	for range 20 { // either may come first
		p := simulated(PoolConfig{Wait: time.Hour}, asked)
		ctx, cancel := context.WithCancel(t.Context())
		w := p.enter(ctx, calling(p), "k", clichain.Request{})
		p.mu.Lock()
		p.hand(p.all[0])
		p.mu.Unlock()
		cancel()
		want := idle
		if p.wait(ctx, w) != nil {
			want = asked
		}
		require.Equal(t, want, p.all[0].phase)
	}
}

// Close ends the waits, and these calls go cold.
func TestPoolCloseEndsWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := simulated(PoolConfig{Wait: time.Hour}, asked)
		results := make(chan came)
		go func() { results <- asks(t.Context(), p, 0, 0) }()
		synctest.Wait()
		p.mu.Lock()
		p.all = nil
		p.mu.Unlock()
		p.Close()
		require.Equal(t, came{}, <-results)
	})
}
