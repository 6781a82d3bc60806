package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
)

// forPeople are the reasons that do not pass until a person does something: to wait for the end of such a cooldown is
// of no use.
var forPeople = []clichain.Reason{clichain.ReasonUnauthenticated, clichain.ReasonBilling}

// watchedStore remembers why backends cool down.
type watchedStore struct {
	cooldown.Store
	mu     sync.Mutex
	states map[string]cooldown.State
}

func watch(s cooldown.Store) *watchedStore {
	if s == nil {
		s = cooldown.NewMemory()
	}
	return &watchedStore{Store: s, states: map[string]cooldown.State{}}
}

// Load remembers what it returns.
func (s *watchedStore) Load(ctx context.Context, key string) (cooldown.State, error) {
	state, err := s.Store.Load(ctx, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[key] = state
	return state, err
}

// needsPerson reports whether all that cools down waits for a person.
func (s *watchedStore) needsPerson(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	any := false
	for _, state := range s.states {
		if !state.Until.After(now) {
			continue
		}
		if !slices.Contains(forPeople, state.Reason) {
			return false
		}
		any = true
	}
	return any
}

// onRest is told that no backend can answer before a time.
func (r *run) onRest(until time.Time) {
	if r.local.drained.Load() {
		return // the batch takes no more jobs
	}
	r.tally.change(func(c *Counts) { c.Rest = until })
	if r.local.store.needsPerson(time.Now()) {
		r.tellResting()
		r.stop(ErrNobody)
		return
	}
	r.notices.say("no CLI can answer before %s", until.Local().Format("15:04:05"))
}

// tellResting says who cools down, and why.
func (r *run) tellResting() {
	failed, _ := errors.AsType[*clichain.ChainError](r.local.chain.Ready(context.Background()))
	if failed == nil {
		return
	}
	for _, a := range failed.Attempts {
		if a.Reason == clichain.ReasonCoolingDown {
			r.notices.say("%v", a.Err)
		}
	}
}

// tellCold says once that the answers of a backend do not come out of warm processes.
func (r *run) tellCold(backend string, err error) {
	r.notices.once("cold "+backend,
		"%s: no process is kept warm, each answer starts one (--cold does so at once): %v", backend, err)
}

// hooks tell people of the first failure of each kind.
func (r *run) hooks() *clichain.Hooks {
	return &clichain.Hooks{AttemptEnd: func(_ context.Context, a clichain.Attempt) {
		if a.Err != nil && !a.Skipped && a.Reason != clichain.ReasonCanceled {
			r.notices.once(a.Backend+" "+string(a.Reason), "%v", a.Err)
		}
	}}
}
