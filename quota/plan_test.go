package quota_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/quota"
)

// plan is a service with usage windows. It charges a call at its end, and refuses a call that starts while a window is
// used up.
type plan struct {
	mu      sync.Mutex
	windows []*planWindow
}

// planWindow is a window that begins with the first use after its reset.
type planWindow struct {
	name     string
	length   time.Duration
	capacity float64
	used     map[string]float64 // by user, in this period
	resets   time.Time
	most     map[string]float64 // of all periods
}

const (
	fiveHourCapacity = 1.0
	weekCapacity     = 8.0
)

func newPlan() *plan {
	return &plan{windows: []*planWindow{
		{name: "five_hour", length: 5 * time.Hour, capacity: fiveHourCapacity, most: map[string]float64{}},
		{name: "seven_day", length: 168 * time.Hour, capacity: weekCapacity, most: map[string]float64{}},
	}}
}

func (w *planWindow) total() (sum float64) {
	for _, used := range w.used {
		sum += used
	}
	return sum
}

// do calls a func with all windows in their state of now.
func (p *plan) do(use func([]*planWindow)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.windows {
		if !time.Now().Before(w.resets) {
			w.used, w.resets = map[string]float64{}, time.Time{}
		}
	}
	use(p.windows)
}

// call takes a while and costs a part of the plan. refused is true at a limit.
func (p *plan) call(user string, took time.Duration, cost float64) (windows []call.QuotaWindow, refused bool) {
	p.do(func(windows []*planWindow) {
		for _, w := range windows {
			refused = refused || w.total() >= w.capacity
		}
	})
	if !refused {
		time.Sleep(took)
	}
	p.do(func(all []*planWindow) {
		for _, w := range all {
			if !refused {
				if w.resets.IsZero() {
					w.resets = time.Now().Add(w.length)
				}
				w.used[user] += cost
				w.most[user] = max(w.most[user], w.used[user])
			}
			windows = append(windows, call.QuotaWindow{
				Name: w.name, Used: new(min(w.total()/w.capacity, 1)), Length: w.length,
				ResetsAt: w.resets, ObservedAt: time.Now(),
			})
		}
	})
	return windows, refused
}

// share is the largest used share of a window.
func (p *plan) share() (most float64) {
	p.do(func(windows []*planWindow) {
		for _, w := range windows {
			most = max(most, w.total()/w.capacity)
		}
	})
	return most
}

// scene is a week of a plan.
type scene struct {
	seed     uint64
	reserved float64
	job      float64 // the largest cost of a job of the batch; a turn of the person costs at least as much
	eager    float64 // of the person: the mean number of turns per hour
}

const person, batch = "person", "batch"

func (s scene) rand(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, stream)) }

// drawScene draws a scene with a seed for what is not drawn.
func drawScene(t *rapid.T) scene {
	s := scene{
		seed:     rapid.Uint64().Draw(t, "seed"),
		reserved: rapid.SampledFrom([]float64{0.3, 0.1, 0.5}).Draw(t, "reserved"),
		job:      rapid.SampledFrom([]float64{0.004, 0.01, 0.02}).Draw(t, "job"),
		eager:    rapid.SampledFrom([]float64{0, 1, 10, 60}).Draw(t, "eager"),
	}
	t.Logf("seed %d: %+v", s.seed, s)
	return s
}

// work uses a plan at random times until the end, with at most the reserved share of each window, and without any report
// to a store. It returns the number of refused turns.
func (s scene) work(p *plan, end time.Time) (refused int) {
	random := s.rand(1)
	for s.eager > 0 {
		time.Sleep(time.Duration(random.ExpFloat64() / s.eager * float64(time.Hour)))
		if !time.Now().Before(end) {
			return refused
		}
		cost, permitted := s.job*(1+2*random.Float64()), true
		p.do(func(windows []*planWindow) {
			for _, w := range windows {
				permitted = permitted && w.used[person]+cost <= s.reserved*w.capacity
			}
		})
		if !permitted {
			continue
		}
		if _, limit := p.call(person, time.Second, cost); limit {
			refused++
		}
	}
	return refused
}

// admit waits until a job may start. It reports false at the end.
type admit func(now time.Time) (until time.Time, ok bool)

// run runs jobs as often as admit permits, and returns their cost.
func (s scene) run(p *plan, stream uint64, end time.Time, admit admit, report func([]call.QuotaWindow)) (used float64) {
	random := s.rand(stream)
	for time.Now().Before(end) {
		until, ok := admit(time.Now())
		if !ok {
			if until.IsZero() || until.After(end) {
				until = end
			}
			time.Sleep(time.Until(until))
			continue
		}
		cost := s.job * (0.5 + 0.5*random.Float64())
		took := time.Duration((1 + random.Float64()) * float64(time.Minute))
		windows, refused := p.call(batch, took, cost)
		if report(windows); refused {
			time.Sleep(time.Minute)
		} else {
			used += cost
		}
	}
	return used
}

// account is a key of a store with a reserve.
type account struct {
	store   cooldown.QuotaStore
	key     string
	reserve quota.Reserve
}

func (a account) admit(now time.Time) (time.Time, bool) {
	q, _ := a.store.LoadQuota(context.Background(), a.key)
	return a.reserve.Check("claude", q.Windows, now)
}

func (a account) report(windows []call.QuotaWindow) {
	_ = a.store.UpdateQuota(context.Background(), a.key, func(q cooldown.Quota) cooldown.Quota {
		q.Windows = quota.Merge(q.Windows, windows)
		return q
	})
}

// week returns the cost of the jobs in a week, and the number of refused turns of the person. Without a store, the jobs
// know the true state of the plan at every moment.
func (s scene) week(t *testing.T, store cooldown.QuotaStore) (used float64, refused int) {
	synctest.Test(t, func(*testing.T) {
		p, end := newPlan(), time.Now().Add(168*time.Hour)
		a := account{store, "a", quota.Reserve{Share: s.reserved}}
		admit, report := a.admit, a.report
		if store == nil {
			report = func([]call.QuotaWindow) {}
			admit = func(now time.Time) (time.Time, bool) {
				return now.Add(time.Minute), p.share() < 1-s.reserved
			}
		}
		var parties sync.WaitGroup
		parties.Go(func() { refused = s.work(p, end) })
		parties.Go(func() { used = s.run(p, 2, end, admit, report) })
		parties.Wait()
	})
	return used, refused
}

// A person whose use is at most the reserve never meets a limit. The batch learns about that use only from the report of
// its next job. It still uses nearly all of what a batch with perfect knowledge would use, except one job, because a job
// cannot be divided.
func TestReserveOfWeek(t *testing.T) {
	checkWeeks(t, func(rt *rapid.T) {
		s := drawScene(rt)
		used, refused := s.week(t, cooldown.NewMemory())
		require.Zero(rt, refused, "refused turns of the person")
		best, _ := s.week(t, nil)
		require.Greater(rt, best, 0.0)
		require.GreaterOrEqual(rt, used, 0.95*best-s.job, "the batch could use %v", best)
		if s.eager == 0 {
			require.GreaterOrEqual(rt, used, 0.95*(1-s.reserved)*weekCapacity)
		}
	})
}

// Without a reserve, the same person meets limits. So the simulated plan is scarce.
func TestWeekWithoutReserve(t *testing.T) {
	s := scene{seed: 1, reserved: 0.3, job: 0.01, eager: 10}
	all := 0
	synctest.Test(t, func(*testing.T) {
		p, end := newPlan(), time.Now().Add(168*time.Hour)
		a := account{cooldown.NewMemory(), "a", quota.Reserve{}}
		var parties sync.WaitGroup
		parties.Go(func() { all = s.work(p, end) })
		parties.Go(func() { s.run(p, 2, end, a.admit, a.report) })
		parties.Wait()
	})
	require.Greater(t, all, 10)
}

// Four workers that each use two accounts at a time keep the reserve of each account together. At most one job of each
// worker passes it.
func TestReserveOfFleet(t *testing.T) {
	const workers = 4
	checkWeeks(t, func(rt *rapid.T) {
		s := drawScene(rt)
		plans := map[string]*plan{"a": newPlan(), "b": newPlan()}
		used := map[string]float64{}
		synctest.Test(t, func(*testing.T) {
			end := time.Now().Add(168 * time.Hour)
			store := cooldown.NewMemory()
			var mu sync.Mutex
			var parties sync.WaitGroup
			for key, p := range plans {
				parties.Go(func() { s.work(p, end) })
				a := account{store, key, quota.Reserve{Share: s.reserved}}
				for i := range workers {
					parties.Go(func() {
						cost := s.run(p, uint64(2+i), end, a.admit, a.report)
						mu.Lock()
						used[key] += cost
						mu.Unlock()
					})
				}
			}
			parties.Wait()
		})
		for key, p := range plans {
			require.Greater(rt, used[key], 0.0)
			for _, w := range p.windows {
				most := (1-s.reserved)*w.capacity + workers*s.job
				require.LessOrEqual(rt, w.most[batch], most, fmt.Sprint(key, " ", w.name))
			}
			if s.eager == 0 {
				require.GreaterOrEqual(rt, used[key], 0.95*(1-s.reserved)*weekCapacity, key)
			}
		}
	})
}
