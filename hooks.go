package clichain

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
)

// Hooks are functions that a chain calls during each call. A session of package live calls them during each turn; see
// live.Config. Every field may be nil. The chain calls them one after the other on the goroutine of the caller or the
// reader of the stream, and waits for each. Concurrent calls of a chain call them concurrently. Only CallStart,
// CallEnd, Event and Answer get prompts and answers. All hooks of one call except Cooldown get the same context value,
// which no other call has, so that a map can have it as a key.
//
// Every start hook has exactly one end hook, also if the call fails or the reader breaks out of the loop. The hooks
// of a chain also observe the runs of nested chains, each run once. If a nested chain has the same *Hooks, directly
// or through [JoinHooks], only the outer chain calls them. Do not modify or copy Hooks after a chain uses them.
type Hooks struct {
	// CallStart is called when a call begins, and CallEnd when it ends. Either resp or err is nil.
	CallStart func(ctx context.Context, req Request)
	CallEnd   func(ctx context.Context, resp *Response, err error)
	// AttemptStart is called when a run of a backend begins.
	AttemptStart func(ctx context.Context, backend string)
	// Event is called for every event of the call, including those that clichain makes. Secrets of the environment of
	// the CLI are redacted, except in the text of the model.
	Event func(ctx context.Context, e Event)
	// AttemptEnd is called when that run ends. Reason and Err of the attempt are empty if the backend answered.
	AttemptEnd func(ctx context.Context, a Attempt)
	// Skip is called when a backend is skipped without a run.
	Skip func(ctx context.Context, a Attempt)
	// Cooldown is called when the cooldown of a backend begins.
	Cooldown func(ctx context.Context, backend string, reason Reason, until time.Time)
	// Answer is called when the call has its answer.
	Answer func(ctx context.Context, resp *Response)

	joined []*Hooks // the arguments of JoinHooks; nil: the fields above apply
}

// LogHooks returns Hooks that write a log record for each step of a call, without prompts, answers and secrets. The
// keys are stable: backend, reason, error, duration, until, attempts, model, access, input_tokens, output_tokens,
// cost_usd, trigger, pre_tokens. The value of error is the group of the error's LogValue method. Starts have the
// level debug; skips, compactions and answers have info; failures and cooldowns have warning. With a nil logger, the
// Hooks do nothing.
func LogHooks(log *slog.Logger) *Hooks {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Hooks{
		CallStart: func(ctx context.Context, req Request) {
			log.DebugContext(ctx, "call start", "model", req.Model, "access", req.Access.String())
		},
		CallEnd: func(ctx context.Context, _ *Response, err error) {
			if err != nil {
				log.WarnContext(ctx, "call failed", "error", err)
			}
		},
		AttemptStart: func(ctx context.Context, backend string) {
			log.DebugContext(ctx, "attempt start", "backend", backend)
		},
		AttemptEnd: func(ctx context.Context, a Attempt) {
			if a.Err == nil {
				log.DebugContext(ctx, "attempt answered", "backend", a.Backend, "duration", a.Duration)
				return
			}
			log.WarnContext(ctx, "attempt failed",
				"backend", a.Backend, "reason", a.Reason, "duration", a.Duration, "error", a.Err)
		},
		Event: func(ctx context.Context, e Event) {
			if e.Kind == EventCompact {
				log.InfoContext(ctx, "conversation compacted",
					"backend", e.Backend, "trigger", e.Trigger, "pre_tokens", e.PreTokens)
			}
		},
		Skip: func(ctx context.Context, a Attempt) {
			log.InfoContext(ctx, "backend skipped", "backend", a.Backend, "reason", a.Reason)
		},
		Cooldown: func(ctx context.Context, backend string, reason Reason, until time.Time) {
			log.WarnContext(ctx, "cooldown", "backend", backend, "reason", reason, "until", until)
		},
		Answer: func(ctx context.Context, resp *Response) {
			attrs := []any{
				"backend", resp.Backend, "model", resp.Model, "duration", resp.Duration, "attempts", len(resp.Attempts),
				"input_tokens", resp.Usage.InputTokens, "output_tokens", resp.Usage.OutputTokens,
			}
			if resp.Usage.CostUSD != nil {
				attrs = append(attrs, "cost_usd", *resp.Usage.CostUSD)
			}
			log.InfoContext(ctx, "answered", attrs...)
		},
	}
}

// JoinHooks returns Hooks that call each of the given hooks in this order. It ignores nil hooks.
func JoinHooks(hooks ...*Hooks) *Hooks {
	return &Hooks{joined: slices.Clone(hooks)}
}

// parts returns the joined hooks, or the hooks themselves, without duplicates.
func (h *Hooks) parts() (list []*Hooks) {
	if h == nil {
		return nil
	}
	if h.joined == nil {
		return []*Hooks{h}
	}
	for _, joined := range h.joined {
		list = append(list, slices.DeleteFunc(joined.parts(), func(p *Hooks) bool { return slices.Contains(list, p) })...)
	}
	return list
}

// cooldown returns a function that calls each Cooldown of the parts.
func (h *Hooks) cooldown() func(ctx context.Context, backend string, reason Reason, until time.Time) {
	return func(ctx context.Context, backend string, reason Reason, until time.Time) {
		for _, p := range h.parts() {
			if p.Cooldown != nil {
				p.Cooldown(ctx, backend, reason, until)
			}
		}
	}
}

type hooksKey struct{}

// withHooks adds the hooks of a chain to those of its outer chains, for the nested chains.
func withHooks(ctx context.Context, h *Hooks) context.Context {
	parts := h.parts()
	if len(parts) == 0 {
		return ctx
	}
	return context.WithValue(ctx, hooksKey{}, append(slices.Clone(hooksOf(ctx)), parts...))
}

// withoutHooks removes the hooks for a backend that is not a chain: the chains that it may call are not nested.
func withoutHooks(ctx context.Context) context.Context {
	if len(hooksOf(ctx)) == 0 {
		return ctx
	}
	return context.WithValue(ctx, hooksKey{}, []*Hooks(nil))
}

func hooksOf(ctx context.Context) []*Hooks {
	above, _ := ctx.Value(hooksKey{}).([]*Hooks)
	return above
}

// hearEvents reports whether one of the hooks has an Event.
func hearEvents(hooks []*Hooks) bool {
	return slices.ContainsFunc(hooks, func(h *Hooks) bool { return h.Event != nil })
}

// watch calls the hooks of a chain during one call, except those that an outer chain calls.
type watch struct {
	hooks []*Hooks
	ctx   context.Context
	runs  []begun
}

// begun is a run that has not ended.
type begun struct {
	backend string
	at      time.Time
}

type watchedKey struct{}

func newWatch(ctx context.Context, h *Hooks) *watch {
	above := hooksOf(ctx)
	hooks := slices.DeleteFunc(h.parts(), func(p *Hooks) bool { return slices.Contains(above, p) })
	if len(hooks) > 0 {
		ctx = context.WithValue(ctx, watchedKey{}, true) // a new pointer
	}
	return &watch{ctx: ctx, hooks: hooks}
}

func (w *watch) callStart(req Request) {
	for _, h := range w.hooks {
		if h.CallStart != nil {
			h.CallStart(w.ctx, req)
		}
	}
}

func (w *watch) callEnd(resp *Response, err error) {
	for _, h := range w.hooks {
		if h.CallEnd != nil {
			h.CallEnd(w.ctx, resp, err)
		}
	}
}

func (w *watch) event(e Event) {
	for _, h := range w.hooks {
		if h.Event != nil {
			h.Event(w.ctx, e)
		}
	}
}

func (w *watch) attemptStart(backend string) {
	for _, h := range w.hooks {
		if h.AttemptStart != nil {
			h.AttemptStart(w.ctx, backend)
		}
	}
}

func (w *watch) attemptEnd(a Attempt) {
	for _, h := range w.hooks {
		if h.AttemptEnd != nil {
			h.AttemptEnd(w.ctx, a)
		}
	}
}

func (w *watch) skip(a Attempt) {
	for _, h := range w.hooks {
		if h.Skip != nil {
			h.Skip(w.ctx, a)
		}
	}
}

func (w *watch) answer(resp *Response) {
	for _, h := range w.hooks {
		if h.Answer != nil {
			h.Answer(w.ctx, resp)
		}
	}
}

// see calls the hooks for an event of the call.
func (w *watch) see(e Event) {
	if e.Kind == EventDone {
		w.endRuns(e.Response)
	}
	w.event(e)
	switch {
	case e.Kind == EventStart:
		w.runs = append(w.runs, begun{e.Backend, time.Now()})
		w.attemptStart(e.Backend)
	case e.Kind == EventAttempt:
		w.failed(*e.Attempt)
	case e.Kind == EventDone:
		w.answer(e.Response)
	}
}

// failed calls AttemptEnd or Skip for a backend that did not answer. The hooks have already observed the attempts of
// a nested chain.
func (w *watch) failed(a Attempt) {
	i := slices.IndexFunc(w.runs, func(r begun) bool { return r.backend == a.Backend })
	if i >= 0 {
		w.runs = slices.Delete(w.runs, i, i+1)
		w.attemptEnd(a)
	} else if chain := call.AsChainError(a.Err); chain == nil || len(chain.Attempts) == 0 {
		w.skip(a)
	}
}

// endRuns calls AttemptEnd for the runs that have not ended. resp is nil if there is no answer.
func (w *watch) endRuns(resp *Response) {
	runs := w.runs
	w.runs = nil
	for _, r := range runs {
		a := Attempt{Backend: r.backend, Duration: time.Since(r.at)}
		switch {
		case resp == nil:
			a.Reason, a.Err = ReasonCanceled, left(w.ctx, r.backend)
		case resp.Backend == r.backend:
			a.Usage, a.Duration = resp.Usage, resp.Duration
		}
		w.attemptEnd(a)
	}
}

// end calls CallEnd. A call without an answer and an error was canceled by its reader.
func (w *watch) end(resp *Response, err error) {
	w.endRuns(nil)
	if resp == nil && err == nil {
		err = left(w.ctx, "")
	}
	w.callEnd(resp, err)
}

// left returns the error of a run or a call whose reader broke out of the loop.
func left(ctx context.Context, backend string) *BackendError {
	return &BackendError{
		Backend: backend, Reason: ReasonCanceled, ExitCode: -1,
		Message: "the reader left the stream", Err: context.Cause(ctx),
	}
}
