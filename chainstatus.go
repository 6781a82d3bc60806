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

// Check returns nil, or the [*BackendError] with which a call of the request would skip the backend b of the chain, or
// with which b would refuse the request. Check starts no process, so it only finds failures that are known in advance.
// The model selects another backend, the backend is in cooldown or reserved, or its Check or Available method returns
// an error.
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

// CoolingDown returns nil if the backend b is neither in cooldown nor reserved for a request without a model and a
// directory. Otherwise it returns the [*BackendError] of the skip, whose RetryAfter is the end of the cooldown or the
// time at which ChainConfig.Reserve permits a call. CoolingDown starts no process.
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

// readiness returns nil if at least one backend would be asked, or the reasons why each would be skipped.
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

// Ready returns nil if the settings of all backends are valid and a call would ask at least one of them. Otherwise it
// returns a [*ChainError] that has the reason why each backend would be skipped. If a call would still ask a backend,
// the error names only the misconfigured backends, and its Note reports that a call is possible. Ready starts no
// process and takes microseconds.
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

// Validate returns all mistakes in the settings as one error, as [Config.Validate] does, or nil.
func (c ChainConfig) Validate() error {
	return misconfig.Join(append(c.Config.mistakes(), c.ownMistakes()...))
}

// ownMistakes returns the mistakes in the fields that Config does not have.
func (c *ChainConfig) ownMistakes() []*BackendError {
	_, invalid := c.table()
	return append(misconfig.List(
		misconfig.Bound("min_attempt", c.MinAttempt),
		misconfig.Bound("max_cost_usd", c.MaxCostUSD),
		misconfig.Problem("reserve", c.Reserve.Problem()),
		misconfig.Word("replay", c.Replay, ReplayIfIdempotent, ReplayAlways, ReplayNever),
	), invalid...)
}

// Validate returns the mistakes in the chain and in each of its backends as one error, or nil. An invalid setting of
// the chain, or two backends with the same name, fails every call. If a single backend is misconfigured, calls skip
// it and add a warning, and [Chain.Ready] reports it.
func (c *Chain) Validate() error {
	var list []*BackendError
	if c.configErr != nil {
		list = append(list, c.configErr)
	}
	return misconfig.Join(append(list, c.invalidBackends()...))
}

// setBackends keeps the backends, and reports mistakes in the list and in the settings.
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
				"has no name: attempts, model names and cooldowns need one"))
		}
		first, twice := names[b.Name()]
		if twice {
			mistakes = append(mistakes, call.ConfigErrorf(field,
				"has the name %q of backends[%d]: set Config.Name to give it a unique name", b.Name(), first))
			continue
		}
		names[b.Name()] = i
	}
	c.configErr = misconfig.Merge("chain", mistakes)
}

// invalidBackends returns the mistakes in single backends.
func (c *Chain) invalidBackends() []*BackendError {
	c.validated.Do(func() {
		for _, b := range c.candidates {
			c.invalid = append(c.invalid, b.invalid()...)
		}
	})
	return c.invalid
}

// validateInBackground validates all backends while a CLI runs, because a response warns of misconfigured backends.
// The caller must call wait before the call ends.
func (c *Chain) validateInBackground() (wait func()) {
	var running sync.WaitGroup
	running.Go(func() { c.invalidBackends() })
	return running.Wait
}

// warnOfInvalid adds a warning for each misconfigured backend to the response.
func (c *Chain) warnOfInvalid(resp *Response) {
	for _, err := range c.invalidBackends() {
		addWarning(resp, "misconfigured, and skipped: "+err.Error())
	}
}

// addWarning adds a warning unless it is empty or already there.
func addWarning(resp *Response, warning string) {
	if warning != "" && !slices.Contains(resp.Warnings, warning) {
		resp.Warnings = append(slices.Clip(resp.Warnings), warning)
	}
}
