package clichain

import (
	"context"

	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/semaphore"
)

// slot waits for the backend's own slot, then for a shared one. The time spent
// here counts for the context's deadline, not for the attempt's timeout.
func (p *Provider) slot(ctx context.Context) (release func(), failure *BackendError) {
	own, err := p.own.Acquire(ctx)
	if err != nil {
		return nil, p.notStarted(err, "no slot was free in time")
	}
	shared, err := semaphore.Semaphore(p.cfg.Slots).Acquire(ctx)
	if err != nil {
		own()
		return nil, p.notStarted(err, "no slot was free in time")
	}
	return func() { shared(); own() }, nil
}

// notStarted is the error of a call that ended while it waited to start.
func (p *Provider) notStarted(cause error, message string) *BackendError {
	reason := judge.ReasonOfCause(cause)
	if reason == ReasonTimeout {
		reason = ReasonBudgetSpent // the chain's clock: nothing was started
	}
	err := &BackendError{Reason: reason, Message: message, ExitCode: -1, Err: cause}
	p.label(err)
	return err
}
