package search_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/judge"
)

// searchRun is one run of a backend.
type searchRun struct {
	call       *searchResult
	place      int // of the backend in the chain
	start, end time.Time
	offset     time.Duration // of the clock of the cooldowns
	setBack    int           // how often the clock had been set back
	deadline   time.Time     // zero: none
	probe      bool          // the request is not that of a caller
	text       bool          // text was delivered
	err        *clichain.BackendError
	panicked   bool
	usage      clichain.Usage
}

func (r *searchRun) answered() bool { return r.err == nil && !r.panicked }

// searchResult is one call of the chain and its outcome.
type searchResult struct {
	searchCall
	id         int
	start, end time.Time
	runs       []*searchRun
	resp       *clichain.Response
	err        error
	panicked   any
	events     []clichain.Event
	after      int // events after the end of the stream
}

// searchWorld runs a scenario.
type searchWorld struct {
	*searchScenario
	mu      sync.Mutex
	offset  time.Duration // of the clock of the cooldowns
	setBack int           // how often the clock was set back
	calls   []*searchResult
	runs    []*searchRun
}

func (w *searchWorld) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.offset)
}

type searchKey struct{}

func searchName(place int) string { return string(rune('a' + place)) }

// searchBackend plays a backend.
type searchBackend struct {
	w     *searchWorld
	place int
}

func (b searchBackend) Name() string { return searchName(b.place) }

func (b searchBackend) Complete(ctx context.Context, req clichain.Request) (resp *clichain.Response, err error) {
	for e, failed := range b.Stream(ctx, req) {
		resp, err = e.Response, failed
	}
	return resp, err
}

func (b searchBackend) Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error] {
	return func(yield func(clichain.Event, error) bool) {
		r, does := b.begin(ctx, req)
		defer func() { r.end = time.Now() }()
		if does.Text {
			r.text = true
			if !yield(clichain.Event{Kind: clichain.EventDelta, Text: r.textOf()}, nil) {
				return
			}
		}
		b.play(ctx, r, does)
		if r.err != nil {
			yield(clichain.Event{}, r.err)
			return
		}
		yield(clichain.Event{Kind: clichain.EventDone, Response: &clichain.Response{Text: r.textOf(), Usage: r.usage}}, nil)
	}
}

func (r *searchRun) textOf() string {
	return fmt.Sprintf("call %d of %s", r.call.id, searchName(r.place))
}

func (b searchBackend) begin(ctx context.Context, req clichain.Request) (*searchRun, searchBehavior) {
	c := ctx.Value(searchKey{}).(*searchResult)
	does := c.Backends[b.place]
	r := &searchRun{call: c, place: b.place, start: time.Now(), probe: req.Messages[0].Content != c.prompt()}
	if does.SideEffects = does.SideEffects && !r.probe; r.probe {
		does.Panics = false
	}
	r.deadline, _ = ctx.Deadline()
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	r.offset, r.setBack = b.w.offset, b.w.setBack
	b.w.runs, c.runs = append(b.w.runs, r), append(c.runs, r)
	return r, does
}

// play waits and sets the outcome of a run.
func (b searchBackend) play(ctx context.Context, r *searchRun, does searchBehavior) {
	ended := ctx.Done()
	if does.Stubborn {
		ended = nil
	}
	reason, cause := does.Reason, error(nil)
	select {
	case <-time.After(does.Takes):
	case <-ended:
		cause = judge.End(ctx)
		reason = judge.ReasonOfCause(cause)
	}
	if does.Panics {
		r.panicked = true
		panic("searchBackend")
	}
	r.usage = clichain.Usage{OutputTokens: does.Tokens}
	if reason == "" {
		return
	}
	r.err = &clichain.BackendError{Backend: b.Name(), Reason: reason, SideEffects: does.SideEffects, Usage: r.usage, Err: cause}
	if does.Reset > 0 && searchBase[reason] > 0 {
		r.err.RetryAfter = b.w.now().Add(does.Reset)
	}
	if does.Retried {
		first := clichain.Attempt{Backend: b.Name(), Reason: clichain.ReasonNetwork, Usage: clichain.Usage{OutputTokens: 100}}
		r.err.Earlier, r.usage.OutputTokens = []clichain.Attempt{first}, r.usage.OutputTokens+100
	}
}

func (c *searchResult) prompt() string { return fmt.Sprint("prompt ", c.id) }

func (s *searchScenario) run() *searchWorld {
	w := &searchWorld{searchScenario: s}
	var backends []clichain.Backend
	for i := range s.Backends {
		backends = append(backends, searchBackend{w, i})
	}
	cfg := &clichain.ChainConfig{
		Budget: s.Budget, MinAttempt: s.MinAttempt, Replay: s.Replay, AcceptReset: s.AcceptReset, NoCooldown: s.NoCooldown,
	}
	if s.Budget == 0 {
		cfg.Budget = -1
	}
	if !s.NoCooldown {
		cfg.Store = searchStores[s.Store]()
	}
	if s.Strict {
		cfg.Policy = map[clichain.Reason]clichain.Rule{clichain.ReasonExit: {Stop: true}}
	}
	chain := chaintest.OnClock(clichain.ChainOf(backends, cfg), 0.5, w.now)
	for _, step := range s.Steps {
		time.Sleep(step.Wait)
		w.mu.Lock()
		if w.offset += step.Jump; step.Jump < 0 {
			w.setBack++
		}
		w.mu.Unlock()
		var all sync.WaitGroup
		for _, c := range step.Calls {
			result := &searchResult{searchCall: c, id: len(w.calls)}
			w.calls = append(w.calls, result)
			all.Go(func() { result.ask(chain) })
		}
		all.Wait()
	}
	time.Sleep(time.Minute) // stores return
	return w
}

func (c *searchResult) ask(chain *clichain.Chain) {
	time.Sleep(c.Delay)
	ctx := context.WithValue(context.Background(), searchKey{}, c)
	c.start = time.Now()
	defer func() { c.end, c.panicked = time.Now(), recover() }()
	if c.Deadline > 0 {
		limited, cancel := context.WithTimeout(ctx, c.Deadline)
		defer cancel()
		ctx = limited
	}
	if c.Cancel > 0 {
		limited, cancel := context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(c.Cancel, cancel).Stop()
		ctx = limited
	}
	req := clichain.Prompt(c.prompt())
	if req.Access = c.Access; req.Access > clichain.AccessNone {
		req.Dir = "/"
	}
	if !c.Stream {
		c.resp, c.err = chain.Complete(ctx, req)
		return
	}
	for e, err := range chain.Stream(ctx, req) {
		if c.resp != nil || c.err != nil {
			c.after++
		}
		if c.err = err; err == nil {
			c.events, c.resp = append(c.events, e), e.Response
		}
	}
}

// searchStores make the stores of the scenarios.
var searchStores = map[string]func() cooldown.Store{
	"memory":  func() cooldown.Store { return cooldown.NewMemory() },
	"failing": func() cooldown.Store { return &searchStore{every: 3} },
	"slow":    func() cooldown.Store { return &searchStore{takes: 50 * time.Millisecond} },
	"stuck":   func() cooldown.Store { return &searchStore{every: 5, takes: 2 * time.Second} },
}

// searchStore is a store that takes time, or that fails in each nth use.
type searchStore struct {
	cooldown.Memory
	every int
	takes time.Duration
	mu    sync.Mutex
	uses  int
}

func (s *searchStore) use() error {
	s.mu.Lock()
	s.uses++
	n := s.uses
	s.mu.Unlock()
	if s.every == 0 || s.takes > 0 && n%s.every == 0 {
		time.Sleep(s.takes) // whatever the context says
	}
	if s.takes == 0 && n%s.every == 0 {
		return errors.New("the store is broken")
	}
	return nil
}

func (s *searchStore) Load(ctx context.Context, key string) (cooldown.State, error) {
	if err := s.use(); err != nil {
		return cooldown.State{}, err
	}
	return s.Memory.Load(ctx, key)
}

func (s *searchStore) Update(ctx context.Context, key string, change func(cooldown.State) cooldown.State) error {
	if err := s.use(); err != nil {
		return err
	}
	return s.Memory.Update(ctx, key, change)
}
