package clichain

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/failover"
	"github.com/clichain/clichain/internal/misconfig"
	"github.com/clichain/clichain/internal/policy"
)

// Check returns nil, or the [*BackendError] with which a call of this request would skip the backend of the chain, or
// with which the backend would refuse the request, as far as that is known without starting anything: the model
// addresses another backend, the backend is in cooldown, or its own Check or Available returns the error.
func (c *Chain) Check(ctx context.Context, b Backend, req Request) error {
	req, owner := c.addressed(req)
	candidate := candidateOf(b)
	err := failover.Mismatch(candidate, req, owner)
	if err == nil && c.cooldown != nil {
		err = c.cooldown.Skip(ctx, candidate.Cooldown(req))
	}
	if err != nil {
		return err
	}
	return candidate.check(ctx, req)
}

// CoolingDown returns nil, or the [*BackendError] with which a request without a model and a working directory would
// skip the backend because it is in cooldown; its RetryAfter is the end of the cooldown. It starts nothing.
func (c *Chain) CoolingDown(ctx context.Context, b Backend) error {
	return c.coolingDown(ctx, candidateOf(b))
}

func (c *Chain) coolingDown(ctx context.Context, b candidate) error {
	if c.cooldown == nil { // the zero Chain
		return nil
	}
	if err := c.cooldown.Skip(ctx, b.Cooldown(Request{})); err != nil {
		return err
	}
	return nil
}

// readiness returns nil if a backend would be asked, else why each would be skipped.
func (c *Chain) readiness(ctx context.Context) *ChainError {
	if c.configErr != nil {
		return &ChainError{Cause: c.configErr}
	}
	failure := &ChainError{}
	for _, b := range c.candidates {
		err := b.ready(ctx)
		if err == nil {
			err = c.coolingDown(ctx, b)
		}
		if err == nil {
			return nil
		}
		failure.Attempts = append(failure.Attempts, policy.AttemptsOf(b.Name(), err, 0)...)
	}
	return failure
}

// Ready returns nil if at least one backend would be asked, and all backends are configured correctly. Else it is a
// [*ChainError] with the reason for which each would be skipped; where others would be asked, it names the
// misconfigured ones, and its Note says so. It starts nothing and takes microseconds.
func (c *Chain) Ready(ctx context.Context) error {
	if failure := c.readiness(ctx); failure != nil {
		return failure
	}
	invalid := c.invalidBackends()
	if len(invalid) == 0 {
		return nil
	}
	failure := &ChainError{Note: "the others would be tried"}
	for _, err := range invalid {
		failure.Attempts = append(failure.Attempts, policy.AttemptOf(err.Backend, err, 0))
	}
	return failure
}

// Validate returns all mistakes in the settings as one error, as
// [Config.Validate] does.
func (c ChainConfig) Validate() error {
	return misconfig.Join(append(c.Config.mistakes(), c.ownMistakes()...))
}

// ownMistakes are those in the fields that are not Config's.
func (c *ChainConfig) ownMistakes() []*BackendError {
	_, invalid := c.table()
	return append(misconfig.List(
		misconfig.Bound("min_attempt", c.MinAttempt),
		misconfig.Bound("max_cost_usd", c.MaxCostUSD),
		misconfig.Word("replay", c.Replay, ReplayIfIdempotent, ReplayAlways, ReplayNever),
	), invalid...)
}

// Validate returns the mistakes in the chain and in each of its backends as one error; nil if there is none. A mistake
// in the chain's own settings, or two backends of one name, fails every call. A misconfigured backend fails none: every
// call skips it and names it, and so does [Chain.Ready].
func (c *Chain) Validate() error {
	var list []*BackendError
	if c.configErr != nil {
		list = append(list, c.configErr)
	}
	return misconfig.Join(append(list, c.invalidBackends()...))
}

// setBackends keeps the backends, and what is wrong with the list of them and with the settings.
func (c *Chain) setBackends(backends []Backend) {
	mistakes, names := c.cfg.ownMistakes(), map[string]int{}
	for i, b := range backends {
		field := fmt.Sprintf("backends[%d]", i)
		if v := reflect.ValueOf(b); b == nil || v.Kind() == reflect.Pointer && v.IsNil() {
			mistakes = append(mistakes, call.ConfigErrorf(field, "is nil"))
			continue
		}
		candidate := candidateOf(b)
		c.backends, c.candidates = append(c.backends, b), append(c.candidates, candidate)
		if candidate.unnamed() {
			continue
		}
		if b.Name() == "" {
			mistakes = append(mistakes, call.ConfigErrorf(field,
				"has no name, by which attempts, models and cooldowns could tell of it"))
		}
		first, twice := names[b.Name()]
		if twice {
			mistakes = append(mistakes, call.ConfigErrorf(field,
				"is called %q, as backends[%d] is: nobody could tell them apart; Config.Name gives another name", b.Name(), first))
			continue
		}
		names[b.Name()] = i
	}
	c.configErr = misconfig.Merge("chain", mistakes)
}

// invalidBackends are the mistakes in single backends.
func (c *Chain) invalidBackends() []*BackendError {
	c.validated.Do(func() {
		for _, b := range c.candidates {
			c.invalid = append(c.invalid, b.invalid()...)
		}
	})
	return c.invalid
}

// validateInBackground validates all backends while a CLI runs, because the answer of a call names their mistakes. Call
// wait before the end of the call.
func (c *Chain) validateInBackground() (wait func()) {
	var running sync.WaitGroup
	running.Go(func() { c.invalidBackends() })
	return running.Wait
}

// warnOfInvalid names the misconfigured backends in the answer of another one.
func (c *Chain) warnOfInvalid(resp *Response) {
	for _, err := range c.invalidBackends() {
		addWarning(resp, "misconfigured, and passed over: "+err.Error())
	}
}

// addWarning adds a warning that is not empty, once.
func addWarning(resp *Response, warning string) {
	if warning != "" && !slices.Contains(resp.Warnings, warning) {
		resp.Warnings = append(slices.Clip(resp.Warnings), warning)
	}
}
