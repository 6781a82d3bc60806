package clichain

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/clichain/clichain/call"
)

// Hooks are called as a chain's call goes on. Each may be nil. They run in the
// goroutine that reads the call, one after the other, and hold it up: return
// soon. Calls of one chain that run at once call them at once. Prompts and
// answers are in CallStart, CallEnd, Event and Answer only.
//
// Each start has one end, however the call goes: on success, and when the reader
// leaves, too. The hooks of a chain hear of the runs of the chains inside it, of
// each once. Hooks are told apart by their address: those that a chain inside has as
// well, alone or joined, are called for the chain around only. Do not change or copy
// Hooks after a chain has them.
type Hooks struct {
	// CallStart: somebody asks the chain. CallEnd: the call is over; one of resp
	// and err is nil.
	CallStart func(ctx context.Context, req Request)
	CallEnd   func(ctx context.Context, resp *Response, err error)
	// AttemptStart: a run of a backend begins.
	AttemptStart func(ctx context.Context, backend string)
	// Event is every event of the call, those of clichain itself too. Secrets
	// of the CLI's environment are removed from all but the model's own words.
	Event func(ctx context.Context, e Event)
	// AttemptEnd: that run is over. Reason and Err are empty when it answered.
	AttemptEnd func(ctx context.Context, a Attempt)
	// Skip: a backend was passed over, without a run.
	Skip func(ctx context.Context, a Attempt)
	// Cooldown: a backend cools down from now on.
	Cooldown func(ctx context.Context, backend string, reason Reason, until time.Time)
	// Answer: the call has its answer.
	Answer func(ctx context.Context, resp *Response)

	joined []*Hooks // of JoinHooks; nil: the funcs count
}

// LogHooks write a record for each step of a call, without prompts, answers
// and secrets. The keys are stable: backend, reason, error, duration, until,
// attempts, model, access, input_tokens, output_tokens, cost_usd, trigger,
// pre_tokens. Starts are debug records; skips, compactions and answers info;
// failures and cooldowns warnings. error is the group of the error's LogValue. A
// nil logger is silent.
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

// JoinHooks makes one of several, called in this order. A nil one counts for nothing.
func JoinHooks(hooks ...*Hooks) *Hooks {
	return &Hooks{joined: slices.Clone(hooks)}
}

// parts are the hooks that were joined, or the hooks themselves, each once.
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

// cooldown returns what calls each Cooldown of the parts.
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

// withHooks keeps a chain's hooks, and those of the chains around it, for a chain inside.
func withHooks(ctx context.Context, h *Hooks) context.Context {
	parts := h.parts()
	if len(parts) == 0 {
		return ctx
	}
	return context.WithValue(ctx, hooksKey{}, append(slices.Clone(hooksOf(ctx)), parts...))
}

// withoutHooks is for a backend that is no chain: the chains that it may ask are not inside the one that asks it.
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

// hearEvents reports whether any of them has an Event.
func hearEvents(hooks []*Hooks) bool {
	return slices.ContainsFunc(hooks, func(h *Hooks) bool { return h.Event != nil })
}

// watch calls the hooks of a chain for one call: those that no chain around has as well.
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

func newWatch(ctx context.Context, h *Hooks) *watch {
	above := hooksOf(ctx)
	return &watch{ctx: ctx, hooks: slices.DeleteFunc(h.parts(), func(p *Hooks) bool { return slices.Contains(above, p) })}
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

// see passes an event of the call on to those who watch it.
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

// failed tells of a backend that did not answer. Those of a chain inside have
// been told one by one.
func (w *watch) failed(a Attempt) {
	i := slices.IndexFunc(w.runs, func(r begun) bool { return r.backend == a.Backend })
	if i >= 0 {
		w.runs = slices.Delete(w.runs, i, i+1)
		w.attemptEnd(a)
	} else if chain := call.AsChainError(a.Err); chain == nil || len(chain.Attempts) == 0 {
		w.skip(a)
	}
}

// endRuns tells of the end of what runs: with the answer, or for nothing.
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

// end tells that the call is over; one without an outcome was left by its reader.
func (w *watch) end(resp *Response, err error) {
	w.endRuns(nil)
	if resp == nil && err == nil {
		err = left(w.ctx, "")
	}
	w.callEnd(resp, err)
}

// left is the error of what ended because nobody reads on.
func left(ctx context.Context, backend string) *BackendError {
	return &BackendError{
		Backend: backend, Reason: ReasonCanceled, ExitCode: -1,
		Message: "the reader left the stream", Err: context.Cause(ctx),
	}
}
