package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// activity is a process of a kind that has been in a phase for some time.
type activity struct {
	phase phase
	age   time.Duration
	key   string // of another kind; empty: "k"
}

// busyPool is simulated with the given processes, at the time now.
func busyPool(cfg PoolConfig, now time.Time, activities ...activity) *Pool {
	phases := make([]phase, len(activities))
	for i, a := range activities {
		phases[i] = a.phase
	}
	p := simulated(cfg, phases...)
	for i, a := range activities {
		p.all[i].since = now.Add(-a.age)
		if a.key != "" {
			p.all[i].key = a.key
		}
	}
	return p
}

// A mean moves by a quarter of the difference.
func TestMean(t *testing.T) {
	t.Parallel()
	var m mean
	for _, step := range []struct{ measured, want time.Duration }{{100, 100}, {200, 125}, {25, 100}} {
		m.add(step.measured)
		require.EqualValues(t, step.want, m)
	}
	m = 0
	m.add(0)
	require.EqualValues(t, 1, m, "it was measured")
}

func TestPaceOfBackend(t *testing.T) {
	t.Parallel()
	const second = mean(time.Second)
	for name, test := range map[string]struct {
		pace                       pace
		usual, coldStart, patience time.Duration
	}{
		"nothing was measured":             {},
		"a cold call":                      {pace{cold: 3 * second}, 3 * time.Second, 3 * time.Second, 6 * time.Second},
		"a long cold call":                 {pace{cold: 7 * second}, 5 * time.Second, 5 * time.Second, 14 * time.Second},
		"a short cold call":                {pace{cold: second / 2}, time.Second / 2, time.Second / 2, 2 * time.Second},
		"a start":                          {pace{start: 3 * second}, 3 * time.Second, 3 * time.Second, 6 * time.Second},
		"a short start":                    {pace{start: second / 2}, time.Second / 2, time.Second / 2, 2 * time.Second},
		"a cold call shorter than a start": {pace{start: 3 * second, cold: second}, 3 * time.Second, time.Second, 6 * time.Second},
		"a cold call longer than a start":  {pace{start: 3 * second, cold: 4 * second}, 3 * time.Second, 3 * time.Second, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.usual, test.pace.usual())
			require.Equal(t, test.coldStart, test.pace.coldStart())
			require.Equal(t, test.patience, test.pace.patience())
		})
	}
}

// The processes of a kind take 100 ms for a turn and 50 ms for a refresh. A start usually takes 500 ms.
func TestPoolExpectsFreeProcesses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		processes  []activity
		unmeasured bool // there was no turn
		failures   int
		want       queue
	}{
		"none":                         {want: queue{call: 150 * ms}},
		"another kind":                 {processes: []activity{{phase: asked, key: "other"}}, want: queue{call: 150 * ms}},
		"a start":                      {processes: []activity{{phase: starting, age: 200 * ms}}, want: queue{[]time.Duration{0}, 150 * ms}},
		"a late start":                 {processes: []activity{{phase: starting, age: 800 * ms}}, want: queue{[]time.Duration{300 * ms}, 150 * ms}},
		"a start after two failures":   {processes: []activity{{phase: starting}}, failures: 2, want: queue{[]time.Duration{0}, 150 * ms}},
		"a start after three failures": {processes: []activity{{phase: starting}}, failures: 3, want: queue{call: 150 * ms}},
		"a turn":                       {processes: []activity{{phase: asked, age: 30 * ms}}, want: queue{[]time.Duration{120 * ms}, 150 * ms}},
		"a late turn":                  {processes: []activity{{phase: asked, age: 700 * ms}}, want: queue{[]time.Duration{650 * ms}, 150 * ms}},
		"the first turn":               {processes: []activity{{phase: asked, age: 700 * ms}}, unmeasured: true, want: queue{[]time.Duration{750 * ms}, 700 * ms}},
		"a refresh":                    {processes: []activity{{phase: refreshing, age: 20 * ms}}, want: queue{[]time.Duration{30 * ms}, 150 * ms}},
		"a late refresh":               {processes: []activity{{phase: refreshing, age: 90 * ms}}, want: queue{[]time.Duration{40 * ms}, 150 * ms}},
		"several":                      {processes: []activity{{phase: asked}, {phase: starting}, {phase: refreshing}}, want: queue{[]time.Duration{0, 50 * ms, 150 * ms}, 150 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			p := busyPool(PoolConfig{}, now, test.processes...)
			p.paceOf("b").start = mean(quick)
			k := p.kindOf("k")
			k.turn, k.fresh, k.failures = mean(100*ms), mean(50*ms), test.failures
			if test.unmeasured {
				k.turn = 0
			}
			require.Equal(t, test.want, p.queue(&waiter{name: "b", key: "k"}, now))
		})
	}
}

// Each process answers the calls ahead in rounds.
func TestQueueExpectedWait(t *testing.T) {
	t.Parallel()
	q := queue{free: []time.Duration{10 * ms, 30 * ms}, call: 100 * ms}
	for ahead, want := range map[int]struct{ wait, slope time.Duration }{0: {10 * ms, 1}, 1: {30 * ms, 1}, 2: {110 * ms, 2}, 5: {230 * ms, 3}} {
		wait, slope := q.expect(ahead)
		require.Equal(t, want.wait, wait, ahead)
		require.Equal(t, want.slope, slope, ahead)
	}
}

// A turn takes 100 ms, and a refresh 50 ms.
func TestPoolCallMayWait(t *testing.T) {
	t.Parallel()
	busy := []activity{{phase: asked}}
	for name, test := range map[string]struct {
		wait      time.Duration
		processes []activity
		start     time.Duration // measured
		colds     []coldCall    // cold calls in flight; began is set by ages
		ages      []time.Duration
		ahead     int
		waited    time.Duration
		ok        bool
		again     time.Duration
	}{
		"never":                      {wait: -1, processes: busy, start: quick},
		"there is no process":        {wait: time.Minute},
		"there is no own process":    {wait: time.Minute, processes: []activity{{phase: asked, key: "other"}}},
		"a time was set":             {wait: time.Minute, processes: busy, waited: 20 * time.Second, ok: true, again: 40 * time.Second},
		"a set time is over":         {wait: time.Minute, processes: busy, waited: time.Minute},
		"nothing was measured":       {processes: busy, again: 5 * time.Second},
		"a cold call measures":       {processes: busy, colds: []coldCall{{name: "b"}}, ages: []time.Duration{0}, waited: 2 * time.Second, ok: true, again: 3 * time.Second},
		"a cold call takes too long": {processes: busy, colds: []coldCall{{name: "b"}}, ages: []time.Duration{0}, waited: 5 * time.Second},
		"another backend measures":   {processes: busy, colds: []coldCall{{name: "other"}}, ages: []time.Duration{0}, again: 5 * time.Second},
		"shorter than a start":       {processes: busy, start: 750 * ms, ahead: 2, ok: true, again: 100 * ms},
		"as long as a start":         {processes: busy, start: 450 * ms, ahead: 2, again: ms},
		"starts share processors":    {processes: []activity{{phase: starting}, {phase: starting}, {phase: starting}}, start: quick, ok: true, again: time.Second},
		"a start of another kind":    {processes: []activity{busy[0], {phase: starting, key: "other"}, {phase: starting}}, start: quick, ok: true, again: 750 * ms},
		"cold calls share processors": {
			processes: busy, start: quick, colds: []coldCall{{name: "b"}, {name: "b"}, {name: "b"}, {name: "other"}},
			ages: []time.Duration{0, quick - 1, quick, 0}, ok: true, again: 600 * ms,
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			p := busyPool(PoolConfig{Wait: test.wait}, now, test.processes...)
			p.paceOf("b").start = mean(test.start)
			p.kindOf("k").turn, p.kindOf("k").fresh = mean(100*ms), mean(50*ms)
			for i, c := range test.colds {
				p.colds = append(p.colds, &coldCall{c.name, now.Add(-test.ages[i])})
			}
			ok, again := p.mayWait(&waiter{name: "b", key: "k", since: now.Add(-test.waited)}, test.ahead, now)
			require.Equal(t, test.ok, ok)
			require.Equal(t, test.again, again)
		})
	}
}
