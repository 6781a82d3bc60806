package clichain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// ChainConfig sets how a chain works. The zero value works. It is copied when
// the chain is made.
type ChainConfig struct {
	// Config applies to every provider that [NewChain] makes. Its Binary must
	// be empty when there are several.
	Config
	// Budget bounds the whole call, over all backends. Zero: none but the
	// context's.
	Budget time.Duration
	// Name is what the chain is called as a Backend. Empty: "chain".
	Name string
}

// Chain asks its backends in order until one answers. It is safe for
// concurrent use, and is a [Backend] itself.
type Chain struct {
	cfg      ChainConfig
	backends []Backend
}

// NewChain makes a chain of a Provider for each spec, in the order given. A nil
// cfg means defaults.
func NewChain(specs []CliSpec, cfg *ChainConfig) *Chain {
	c := ChainOf(nil, cfg)
	provider := c.cfg.Config
	for _, spec := range specs {
		p := NewProvider(spec, &provider)
		if provider.Binary != "" && len(specs) > 1 && p.broken == nil {
			p.broken = fmt.Errorf("config.binary: %q cannot be the program of %d backends: use ChainOf with a Provider each", provider.Binary, len(specs))
		}
		c.backends = append(c.backends, p)
	}
	return c
}

// ChainOf makes a chain of backends that exist already, other chains among
// them. A nil cfg means defaults; its Config part is not used.
func ChainOf(backends []Backend, cfg *ChainConfig) *Chain {
	c := &Chain{backends: append([]Backend(nil), backends...)}
	if cfg != nil {
		c.cfg = *cfg
	}
	return c
}

// Name is ChainConfig.Name, or "chain".
func (c *Chain) Name() string {
	if c.cfg.Name == "" {
		return "chain"
	}
	return c.cfg.Name
}

// Complete returns the first answer. Response.Attempts holds what was tried or
// skipped before it. The error is a [*ChainError].
func (c *Chain) Complete(ctx context.Context, req Request) (*Response, error) {
	return c.answer(ctx, req, nil)
}

// Stream yields the events of each backend in turn. Once text was delivered,
// a failure ends the chain: the reader cannot unread it.
func (c *Chain) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return stream(ctx, func(ctx context.Context, emit func(Event)) (*Response, error) { return c.answer(ctx, req, emit) })
}

func (c *Chain) answer(ctx context.Context, req Request, emit func(Event)) (*Response, error) {
	if err := checkRequest(req); err != nil {
		return nil, &ChainError{Cause: err}
	}
	if c.cfg.Budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.cfg.Budget, &stopError{ReasonTimeout, c.cfg.Budget})
		defer cancel()
	}
	w := walk{ctx: ctx, req: req, emit: emit, owner: c.claimant(req.Model)}
	for _, b := range c.backends {
		resp, goOn := w.visit(b)
		if resp != nil {
			return resp, nil
		}
		if !goOn {
			break
		}
	}
	return nil, w.failure()
}

// claimant is the backend that the model name addresses, or nil.
func (c *Chain) claimant(model string) Backend {
	for _, b := range c.backends {
		if p, ok := b.(*Provider); ok && p.spec != nil && p.spec.models.claims(model) {
			return b
		}
	}
	return nil
}

// walk is one call's way along the chain.
type walk struct {
	ctx       context.Context
	req       Request
	emit      func(Event)
	owner     Backend // the only one that may take the model
	attempts  []Attempt
	delivered bool // text has reached the reader
}

// visit asks one backend; goOn is false when the chain must end.
func (w *walk) visit(b Backend) (resp *Response, goOn bool) {
	if err := w.skip(b); err != nil {
		w.attempts = append(w.attempts, attemptOf(b.Name(), err, 0))
		return nil, true
	}
	start := time.Now()
	resp, err := w.ask(b)
	if err == nil {
		resp.Attempts = append(w.attempts, resp.Attempts...)
		return resp, false
	}
	w.attempts = append(w.attempts, attemptsOf(b.Name(), err, time.Since(start))...)
	return nil, w.mayGoOn(err)
}

// skip passes a backend over without asking it.
func (w *walk) skip(b Backend) *BackendError {
	var err *BackendError
	switch {
	case w.spent():
		err = mistake(ReasonBudgetSpent, "", "the chain's budget was over before its turn")
	case w.owner != nil && w.owner != b:
		err = mistake(ReasonModelMismatch, "model", "%q belongs to %s", w.req.Model, w.owner.Name())
	default:
		return nil
	}
	err.Backend = b.Name()
	return err
}

// spent reports whether the chain's budget, not the caller, ended the context.
func (w *walk) spent() bool {
	_, ok := errors.AsType[*stopError](context.Cause(w.ctx))
	return ok
}

func (w *walk) ask(b Backend) (*Response, error) {
	if w.emit == nil {
		return b.Complete(w.ctx, w.req)
	}
	for e, err := range b.Stream(w.ctx, w.req) {
		if err != nil {
			return nil, err
		}
		if e.Kind == EventDone {
			return e.Response, nil
		}
		w.delivered = w.delivered || e.Kind == EventDelta || e.Kind == EventText
		w.emit(e)
	}
	return nil, &BackendError{Backend: b.Name(), Reason: ReasonBadOutput, Message: "the stream ended without an answer"}
}

// mayGoOn applies the decision table to the last failure.
func (w *walk) mayGoOn(err error) bool {
	last := w.attempts[len(w.attempts)-1]
	if be, ok := errors.AsType[*BackendError](err); ok && be.SideEffects || w.delivered {
		return false
	}
	if w.ctx.Err() != nil {
		return w.spent() // the rest is listed as skipped
	}
	return policy[last.Reason].next
}

// failure is the error of a chain that gave no answer.
func (w *walk) failure() *ChainError {
	err := &ChainError{Attempts: w.attempts}
	if cause := context.Cause(w.ctx); cause != nil && !w.spent() {
		err.Cause = &BackendError{Reason: ReasonCanceled, ExitCode: -1, Err: cause}
	}
	return err
}
