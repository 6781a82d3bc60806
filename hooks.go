package clichain

import (
	"context"
	"log/slog"
	"slices"
	"time"
	"unsafe"
)

// Hooks are called as a chain's call goes on. Each may be nil. They run in the
// goroutine that reads the call, one after the other, and hold it up: return
// soon. Calls of one chain that run at once call them at once. Prompts and
// answers are in CallStart, CallEnd, Event and Answer only.
//
// Each start has one end, however the call goes: on success, and when the reader
// leaves, too. The hooks of a chain hear of the runs of the chains inside it, of
// each once; a func that the chain around has as well is called for that one only.
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
}

// LogHooks write a record for each step of a call, without prompts, answers
// and secrets. The keys are stable: backend, reason, error, duration, until,
// attempts, model, access, input_tokens, output_tokens, cost_usd, trigger,
// pre_tokens. Starts are debug records; skips, compactions and answers info;
// failures and cooldowns warnings. error is the group of the error's LogValue. A
// nil logger is silent.
func LogHooks(log *slog.Logger) Hooks {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return Hooks{
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

// JoinHooks makes one of several, called in this order.
func JoinHooks(hooks ...Hooks) Hooks {
	all := Hooks{}.filled()
	for _, h := range hooks {
		all = all.then(h.filled())
	}
	return all
}

func (h Hooks) then(next Hooks) Hooks {
	return Hooks{
		CallStart:    func(ctx context.Context, req Request) { h.CallStart(ctx, req); next.CallStart(ctx, req) },
		CallEnd:      func(ctx context.Context, r *Response, err error) { h.CallEnd(ctx, r, err); next.CallEnd(ctx, r, err) },
		AttemptStart: func(ctx context.Context, name string) { h.AttemptStart(ctx, name); next.AttemptStart(ctx, name) },
		Event:        func(ctx context.Context, e Event) { h.Event(ctx, e); next.Event(ctx, e) },
		AttemptEnd:   func(ctx context.Context, a Attempt) { h.AttemptEnd(ctx, a); next.AttemptEnd(ctx, a) },
		Skip:         func(ctx context.Context, a Attempt) { h.Skip(ctx, a); next.Skip(ctx, a) },
		Answer:       func(ctx context.Context, r *Response) { h.Answer(ctx, r); next.Answer(ctx, r) },
		Cooldown: func(ctx context.Context, name string, reason Reason, until time.Time) {
			h.Cooldown(ctx, name, reason, until)
			next.Cooldown(ctx, name, reason, until)
		},
	}
}

// filled has a func that does nothing in place of each nil one.
func (h Hooks) filled() Hooks {
	fill(&h.CallStart, func(context.Context, Request) {})
	fill(&h.CallEnd, func(context.Context, *Response, error) {})
	fill(&h.AttemptStart, func(context.Context, string) {})
	fill(&h.Event, func(context.Context, Event) {})
	fill(&h.AttemptEnd, func(context.Context, Attempt) {})
	fill(&h.Skip, func(context.Context, Attempt) {})
	fill(&h.Answer, func(context.Context, *Response) {})
	fill(&h.Cooldown, func(context.Context, string, Reason, time.Time) {})
	return h
}

func fill[F any](hook *F, silent F) {
	if identity(*hook) == nil {
		*hook = silent
	}
}

// without is the hooks less those funcs that a chain around has as well: it
// calls them for the runs in here. Cooldowns are told by the chain inside alone.
func (h Hooks) without(above Hooks) Hooks {
	drop(&h.CallStart, above.CallStart)
	drop(&h.CallEnd, above.CallEnd)
	drop(&h.AttemptStart, above.AttemptStart)
	drop(&h.Event, above.Event)
	drop(&h.AttemptEnd, above.AttemptEnd)
	drop(&h.Skip, above.Skip)
	drop(&h.Answer, above.Answer)
	return h
}

func drop[F any](hook *F, above F) {
	if identity(*hook) == identity(above) {
		var none F
		*hook = none
	}
}

// identity is what copies of one func value share, and no two closures do: a
// func is a pointer to its closure, which the language does not let us compare.
func identity[F any](hook F) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&hook)) }

type hooksKey struct{}

// withHooks keeps a chain's hooks, and those of the chains around it, for a chain inside.
func withHooks(ctx context.Context, h Hooks) context.Context {
	if h.none() {
		return ctx
	}
	return context.WithValue(ctx, hooksKey{}, append(slices.Clone(hooksOf(ctx)), h))
}

// withoutHooks is for a backend that is no chain: the chains that it may ask are not inside the one that asks it.
func withoutHooks(ctx context.Context) context.Context {
	if len(hooksOf(ctx)) == 0 {
		return ctx
	}
	return context.WithValue(ctx, hooksKey{}, []Hooks(nil))
}

func (h Hooks) none() bool {
	return h.CallStart == nil && h.CallEnd == nil && h.AttemptStart == nil && h.Event == nil &&
		h.AttemptEnd == nil && h.Skip == nil && h.Cooldown == nil && h.Answer == nil
}

func (h Hooks) hearsEvents() bool { return h.Event != nil }

func hooksOf(ctx context.Context) []Hooks {
	above, _ := ctx.Value(hooksKey{}).([]Hooks)
	return above
}

// watch tells the hooks of a chain of one call.
type watch struct {
	Hooks
	ctx  context.Context
	runs []begun
}

// begun is a run that has not ended.
type begun struct {
	backend string
	at      time.Time
}

func newWatch(ctx context.Context, h Hooks) *watch {
	for _, above := range hooksOf(ctx) {
		h = h.without(above)
	}
	return &watch{Hooks: h.filled(), ctx: ctx}
}

// see passes an event of the call on to those who watch it.
func (w *watch) see(e Event) {
	if e.Kind == EventDone {
		w.endRuns(e.Response)
	}
	w.Event(w.ctx, e)
	switch {
	case e.Kind == EventStart:
		w.runs = append(w.runs, begun{e.Backend, time.Now()})
		w.AttemptStart(w.ctx, e.Backend)
	case e.Kind == EventAttempt:
		w.failed(*e.Attempt)
	case e.Kind == EventDone:
		w.Answer(w.ctx, e.Response)
	}
}

// failed tells of a backend that did not answer. Those of a chain inside have
// been told one by one.
func (w *watch) failed(a Attempt) {
	i := slices.IndexFunc(w.runs, func(r begun) bool { return r.backend == a.Backend })
	if i >= 0 {
		w.runs = slices.Delete(w.runs, i, i+1)
		w.AttemptEnd(w.ctx, a)
	} else if chain := chainIn(a.Err); chain == nil || len(chain.Attempts) == 0 {
		w.Skip(w.ctx, a)
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
		w.AttemptEnd(w.ctx, a)
	}
}

// end tells that the call is over; one without an outcome was left by its reader.
func (w *watch) end(resp *Response, err error) {
	w.endRuns(nil)
	if resp == nil && err == nil {
		err = left(w.ctx, "")
	}
	w.CallEnd(w.ctx, resp, err)
}

// left is the error of what ended because nobody reads on.
func left(ctx context.Context, backend string) *BackendError {
	return &BackendError{
		Backend: backend, Reason: ReasonCanceled, ExitCode: -1,
		Message: "the reader left the stream", Err: context.Cause(ctx),
	}
}
