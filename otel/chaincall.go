package otel

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// chainCall is one call with its span, from begin to end. It is safe for concurrent use. A nil chainCall ignores all
// events.
type chainCall struct {
	t     *Telemetry
	ctx   context.Context // contains the span
	span  trace.Span
	chain string
	model string // as requested; may be empty
	job   []attribute.KeyValue

	providers map[string]string // by the names of the backends
	start     time.Time

	mu        sync.Mutex
	over      bool
	told      bool   // a hook has reported an event
	text      bool   // the first text has arrived
	runs      []*run // runs that have not ended
	attempts  int
	fallbacks int
	passed    string // the last backend that failed or was skipped since the last start
}

// begin starts the span of a call.
func (b *backend) begin(ctx context.Context, req clichain.Request) *chainCall {
	t := b.t
	c := &chainCall{
		t: t, chain: b.Name(), model: req.Model, start: time.Now(), job: t.jobIn(ctx), providers: b.providers,
	}
	attrs := c.about(append(c.job, keyAccess.String(req.Access.String()))...)
	if req.Session != "" {
		attrs = append(attrs, keyConversation.String(req.Session))
	}
	if t.content {
		attrs = append(attrs, keyInputMessages.String(inputJSON(req.Messages)))
	}
	ctx, c.span = t.tracer.Start(ctx, operationCall+" "+c.chain, trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(attrs...), trace.WithTimestamp(c.start))
	c.ctx = t.within(withTrace(ctx), c)
	return c
}

// withTrace passes the span of a context to the CLIs. Without a span it keeps the trace context that the caller has
// set.
func withTrace(ctx context.Context) context.Context {
	headers := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, headers)
	if headers["traceparent"] == "" {
		return ctx
	}
	return call.WithTrace(ctx, headers["traceparent"], headers["tracestate"])
}

// about returns the attributes that the span and the metrics of the call share, and more.
func (c *chainCall) about(more ...attribute.KeyValue) []attribute.KeyValue {
	attrs := []attribute.KeyValue{keyOperation.String(operationCall), keyWorkflow.String(c.chain)}
	return append(appendText(attrs, keyRequestModel, c.model), more...)
}

func appendText(attrs []attribute.KeyValue, key attribute.Key, text string) []attribute.KeyValue {
	if text == "" {
		return attrs
	}
	return append(attrs, key.String(text))
}

// hear runs f under the call's mutex, unless the call has ended.
func (c *chainCall) hear(f func()) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		f()
	}
}

func (c *chainCall) goesOn() (on bool) {
	c.hear(func() { on = true })
	return on
}

func (c *chainCall) attemptStarts(backend string) {
	c.hear(func() { c.told = true; c.begins(backend, time.Now()) })
}

// begins adds a run. The run is a fallback if another backend has failed or was skipped since the previous run.
func (c *chainCall) begins(backend string, at time.Time) *run {
	if c.passed != "" && c.passed != backend {
		c.fallbacks++
		c.t.fallbacks.Add(c.ctx, 1, c.t.set(keyAgent.String(backend)))
	}
	c.passed = ""
	c.attempts++
	r := c.newRun(backend, at)
	c.runs = append(c.runs, r)
	return r
}

func (c *chainCall) attemptEnds(a clichain.Attempt) {
	c.hear(func() {
		i := slices.IndexFunc(c.runs, func(r *run) bool { return r.backend == a.Backend && !r.answered })
		if i < 0 {
			return
		}
		r := c.runs[i]
		r.usage, r.ended = a.Usage, time.Now()
		if r.answered = a.Err == nil && a.Reason == ""; r.answered {
			return // the next event, the answer, names the model
		}
		c.runs = slices.Delete(c.runs, i, i+1)
		c.passed = a.Backend
		r.end(known(a.Reason))
	})
}

// hasAnswer ends the runs that have answered.
func (c *chainCall) hasAnswer(resp *clichain.Response) {
	c.hear(func() {
		c.runs = slices.DeleteFunc(c.runs, func(r *run) bool {
			if r.answered && r.backend == resp.Backend {
				r.model, r.session = cmp.Or(resp.Model, r.model), resp.Session
				r.provider = cmp.Or(providerName(resp.Provider), r.provider)
			}
			if r.answered {
				r.end("")
			}
			return r.answered
		})
	})
}

// hears records an event. It ignores an event that it has already recorded.
func (c *chainCall) hears(e clichain.Event) {
	if !text(e) && e.Kind != clichain.EventSession {
		return
	}
	c.hear(func() {
		now := time.Now()
		if text(e) && !c.text {
			c.text = true
			c.t.firstText.Record(c.ctx, now.Sub(c.start).Seconds(), c.t.set(c.about()...))
		}
		for _, r := range c.runs {
			if r.backend == e.Backend {
				r.hears(e, now)
			}
		}
	})
}

// text reports whether an event contains text of the answer.
func text(e clichain.Event) bool {
	return e.Text != "" && (e.Kind == clichain.EventDelta || e.Kind == clichain.EventText)
}

func (c *chainCall) skips(a clichain.Attempt) {
	c.hear(func() { c.told = true; c.skipped(a) })
}

func (c *chainCall) skipped(a clichain.Attempt) {
	c.passed = a.Backend
	attrs := agentAttributes(a.Backend, known(a.Reason))
	c.span.AddEvent(eventSkip, trace.WithAttributes(appendText(attrs, keyProvider, c.providers[a.Backend])...))
	c.t.skips.Add(c.ctx, 1, c.t.set(attrs...))
}

func (c *chainCall) coolsDown(backend string, reason clichain.Reason, until time.Time) {
	c.hear(func() {
		c.span.AddEvent(eventCooldown, trace.WithAttributes(append(agentAttributes(backend, known(reason)),
			keyUntil.String(until.UTC().Format(time.RFC3339)))...))
	})
}

// end ends the span of the call and those of all open runs.
func (c *chainCall) end(o outcome) {
	c.hear(func() {
		if a, ok := o.attempt(c.chain); ok && !c.told {
			c.only(a, o)
		}
		for _, r := range c.runs {
			if r.answered {
				r.end("")
			} else {
				r.end(cmp.Or(o.reason, string(clichain.ReasonCanceled)))
			}
		}
		c.over, c.runs = true, nil
		c.finish(o)
	})
}

// only records the single run of a backend without hooks.
func (c *chainCall) only(a clichain.Attempt, o outcome) {
	if a.Skipped {
		c.skipped(a)
		return
	}
	r := c.begins(a.Backend, c.start)
	c.runs = nil
	r.usage, r.ended = a.Usage, time.Now()
	if o.resp != nil {
		r.model, r.session = o.resp.Model, o.resp.Session
		r.provider = cmp.Or(providerName(o.resp.Provider), r.provider)
	}
	r.end(o.reason)
}

func (c *chainCall) finish(o outcome) {
	attrs := append(usageAttributes(o.usage), keyAttempts.Int(c.attempts), keyFallbacks.Int(c.fallbacks))
	about := c.about()
	if resp := o.resp; resp != nil {
		about = appendText(about, keyResponseModel, resp.Model)
		about = appendText(about, keyProvider, providerName(resp.Provider))
		attrs = appendText(attrs, keyProvider, providerName(resp.Provider))
		attrs = appendText(attrs, keyResponseModel, resp.Model)
		attrs = appendText(attrs, keyConversation, resp.Session)
		attrs = appendText(attrs, keyAnsweredBy, resp.Backend)
		if len(resp.Flags) > 0 {
			attrs = append(attrs, keyFlags.StringSlice(texts(resp.Flags)))
		}
		if c.t.content {
			attrs = append(attrs, keyOutputMessages.String(outputJSON(resp.Text)))
		}
	} else {
		about = append(about, keyError.String(o.reason))
		attrs = append(attrs, keyError.String(o.reason))
		c.span.SetStatus(codes.Error, o.reason)
	}
	c.span.SetAttributes(attrs...)
	c.t.duration.Record(c.ctx, time.Since(c.start).Seconds(), c.t.set(about...))
	c.span.End()
}
