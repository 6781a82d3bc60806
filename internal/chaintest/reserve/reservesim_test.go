package reserve_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/quota"
)

const (
	oneWeek    = 7 * 24 * time.Hour
	reserved   = 0.3
	maxCost    = 0.001 // of one call, as a share of the week
	perSession = 10    // a call uses this many times more of five hours than of the week
)

// planWindow is a usage window of a simulated service. It starts with the first call after its reset.
type planWindow struct {
	name           string
	length         time.Duration
	factor         float64
	resets         time.Time
	used, ofPerson float64
}

// plan is the plan of a simulated service, which rejects a call only if a window is used up.
type plan struct {
	mu      sync.Mutex
	random  *rand.Rand
	windows []*planWindow

	limited          int // calls that the service rejected
	ofPerson, ofRest float64
}

func newPlan(seed uint64) *plan {
	return &plan{random: rand.New(rand.NewPCG(seed, 0)), windows: []*planWindow{
		{name: "five_hour", length: 5 * time.Hour, factor: perSession}, {name: "seven_day", length: oneWeek, factor: 1},
	}}
}

func (p *plan) uniform(from, to float64) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return from + (to-from)*p.random.Float64()
}

// call takes some minutes and then some of each window. It returns false if a window is used up.
func (p *plan) call(person bool) bool {
	if !p.begin() {
		return false
	}
	cost := p.uniform(maxCost/5, maxCost)
	time.Sleep(time.Duration(p.uniform(1, 10) * float64(time.Minute)))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.roll()
	for _, w := range p.windows {
		w.used += cost * w.factor
		if person {
			w.ofPerson += cost * w.factor
		}
	}
	if person {
		p.ofPerson += cost
	} else {
		p.ofRest += cost
	}
	return true
}

func (p *plan) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.roll()
	for _, w := range p.windows {
		if w.used >= 1 {
			p.limited++
			return false
		}
	}
	return true
}

// roll starts the windows whose reset has passed. The caller holds mu.
func (p *plan) roll() {
	for _, w := range p.windows {
		if now := time.Now(); !now.Before(w.resets) {
			w.resets, w.used, w.ofPerson = now.Add(w.length), 0, 0
		}
	}
}

// report returns what the service reports.
func (p *plan) report() (windows []call.QuotaWindow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.windows {
		windows = append(windows, call.QuotaWindow{
			Name: w.name, Used: new(min(w.used, 1)), Length: w.length, ResetsAt: w.resets, ObservedAt: time.Now(),
		})
	}
	return windows
}

// highest returns the highest use of a window now, and that of the person.
func (p *plan) highest() (used, ofPerson float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.roll()
	for _, w := range p.windows {
		used, ofPerson = max(used, w.used), max(ofPerson, w.ofPerson)
	}
	return used, ofPerson
}

// planned is a backend with a simulated plan. Unwrap returns the Provider whose login has it.
type planned struct {
	*clichain.Provider
	plan *plan
}

func newPlanned(name, account string, p *plan) planned {
	return planned{clichain.NewProvider(clichain.CliSpec{Name: name, Binary: name}, &clichain.Config{Account: account}), p}
}

func (b planned) Unwrap() clichain.Backend { return b.Provider }

func (planned) Available(context.Context) error { return nil }

func (b planned) Complete(context.Context, clichain.Request) (*clichain.Response, error) {
	if !b.plan.call(false) {
		return nil, &clichain.BackendError{Backend: b.Name(), Reason: clichain.ReasonUsageLimit, Quota: b.plan.report()}
	}
	return &clichain.Response{Backend: b.Name(), Text: "ok", Quota: b.plan.report()}, nil
}

func (b planned) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return call.Once(func(yield func(clichain.Event, error) bool) {
		resp, err := b.Complete(ctx, req)
		yield(clichain.Event{Kind: clichain.EventDone, Response: resp}, err)
	})
}

// work sends requests until the end. It waits if all plans are reserved, as a worker does.
func work(c *clichain.Chain, end time.Time) error {
	for time.Now().Before(end) {
		_, err := c.Complete(context.Background(), clichain.Prompt("hi"))
		failed, _ := errors.AsType[*clichain.ChainError](err)
		switch {
		case err == nil:
		case failed != nil && failed.Reason() == clichain.ReasonReserved && failed.RetryAfter().After(time.Now()):
			time.Sleep(time.Until(failed.RetryAfter()))
		default:
			return err
		}
	}
	return nil
}

// usePlan calls the service at any time while the share that the person may use is not exceeded.
func usePlan(p *plan, share float64, end time.Time) {
	for time.Now().Before(end) {
		if _, ofPerson := p.highest(); ofPerson+maxCost*perSession <= share {
			p.call(true)
		}
		time.Sleep(time.Duration(p.uniform(1, 90) * float64(time.Minute)))
	}
}

// checkFew checks a property a few times, unless the flag -rapid.checks asks for more. The flag -rapid.seed repeats a
// failure.
func checkFew(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	if checks := flag.Lookup("rapid.checks").Value; checks.String() == "100" {
		require.NoError(t, checks.Set("4"))
		defer func() { require.NoError(t, checks.Set("100")) }()
	}
	rapid.Check(t, property)
}

// A person beside a batch never meets a limit in a week, and the batch uses nearly all of the rest. The person uses at
// most the reserve, less one call of each slot of the batch.
func TestReserveForPersonBesideBatch(t *testing.T) {
	checkFew(t, func(rt *rapid.T) {
		seed, slots := rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(1, 6).Draw(rt, "slots")
		problem := ""
		synctest.Test(t, func(t *testing.T) { problem = weekOfPersonAndBatch(seed, slots) })
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

func weekOfPersonAndBatch(seed uint64, slots int) (problem string) {
	p := newPlan(seed)
	c := clichain.ChainOf([]clichain.Backend{newPlanned("a", "", p)}, &clichain.ChainConfig{Reserve: quota.Reserve{Share: reserved}})
	end := time.Now().Add(oneWeek)
	errs := make([]error, slots)
	var all sync.WaitGroup
	all.Go(func() { usePlan(p, reserved-float64(slots)*maxCost*perSession, end) })
	for i := range slots {
		all.Go(func() { errs[i] = work(c, end) })
	}
	all.Wait()
	switch err := errors.Join(errs...); {
	case err != nil:
		return err.Error()
	case p.limited > 0:
		return fmt.Sprintf("%d calls met a limit", p.limited)
	case p.ofPerson < reserved/3:
		return fmt.Sprintf("the person used only %.3f", p.ofPerson)
	case p.ofRest+p.ofPerson < 0.95*(1-reserved), p.ofRest < 0.95*(1-reserved-p.ofPerson):
		return fmt.Sprintf("the batch used only %.3f, and the person %.3f", p.ofRest, p.ofPerson)
	}
	return ""
}

// Workers that share a store keep the reserve of each login together.
func TestReserveOfFleet(t *testing.T) {
	const workers = 4
	checkFew(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		synctest.Test(t, func(t *testing.T) {
			store, plans := cooldown.NewMemory(), []*plan{newPlan(seed), newPlan(seed + 1)}
			end := time.Now().Add(oneWeek - time.Minute)
			errs := make([]error, workers)
			var all sync.WaitGroup
			for i := range workers {
				backends := []clichain.Backend{newPlanned("a", "one", plans[0]), newPlanned("b", "two", plans[1])}
				if i%2 > 0 { // the name of a backend does not identify its account
					backends = []clichain.Backend{newPlanned("b", "one", plans[0]), newPlanned("a", "two", plans[1])}
				}
				c := clichain.ChainOf(backends, &clichain.ChainConfig{Store: store, Reserve: quota.Reserve{Share: reserved}})
				all.Go(func() { errs[i] = work(c, end) })
			}
			highest := make([]float64, len(plans))
			for time.Now().Before(end) {
				for i, p := range plans {
					used, _ := p.highest()
					highest[i] = max(highest[i], used)
				}
				time.Sleep(time.Minute)
			}
			all.Wait()
			require.NoError(t, errors.Join(errs...), "seed %d", seed)
			for i, p := range plans {
				require.Zero(t, p.limited, "seed %d", seed)
				require.Less(t, highest[i], 1-reserved+workers*maxCost*perSession, "seed %d", seed)
				require.Greater(t, p.ofRest, 0.95*(1-reserved), "seed %d", seed)
			}
			quotas, err := store.Quotas(t.Context())
			require.NoError(t, err)
			require.Len(t, quotas, len(plans))
		})
	})
}
