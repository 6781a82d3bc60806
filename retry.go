package clichain

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// retryDelay is the pause before the second try of the same backend.
const retryDelay = 500 * time.Millisecond

// answer runs the CLI, and once more after a failure that may have passed. Both
// tries share the timeout.
func (p *Provider) answer(ctx context.Context, req Request, emit func(Event)) (*Response, error) {
	inv, err := p.prepare(req, emit != nil)
	if err != nil {
		return nil, err
	}
	release, err := p.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var (
		resp    *Response
		last    *BackendError
		earlier []Attempt
		start   = time.Now()
	)
	operation := func() error {
		if last != nil {
			earlier = append(earlier, attemptOf(p.name, last, time.Since(start)))
		}
		began := time.Now()
		if resp, last = p.try(ctx, inv, req, p.remaining(start), emit); last == nil {
			return nil
		}
		if !p.worthAnother(last, time.Since(began), p.remaining(start)) {
			return backoff.Permanent(last)
		}
		return last
	}
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(retryDelay), backoff.WithMaxElapsedTime(0))
	if backoff.Retry(operation, backoff.WithContext(backoff.WithMaxRetries(pause, 1), ctx)) == nil {
		resp.Attempts = earlier
		return resp, nil
	}
	last.Earlier = earlier
	return nil, last
}

// worthAnother says whether the same backend may do better a moment later: the
// failure passes by itself, nothing was changed, and there is time for a try
// as long as the first.
func (p *Provider) worthAnother(err *BackendError, took, remaining time.Duration) bool {
	return policy[err.Reason].again && !err.SideEffects && err.Partial == "" &&
		(p.cfg.Timeout < 0 || remaining > 2*retryDelay+took)
}

// remaining is what is left of the timeout; 0 means that there is none.
func (p *Provider) remaining(start time.Time) time.Duration {
	if p.cfg.Timeout < 0 {
		return 0
	}
	return max(p.cfg.Timeout-time.Since(start), time.Nanosecond)
}
