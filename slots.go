package clichain

import "context"

// Slots bounds how many CLIs run at once over all the backends that share it
// through Config.Slots. A CLI takes 150 to 650 MB while it runs, so the
// machine's memory sets the number. It is safe for concurrent use.
type Slots struct{ free chan struct{} }

// NewSlots makes n slots; n below 1 counts as 1.
func NewSlots(n int) *Slots { return &Slots{make(chan struct{}, max(n, 1))} }

// acquire waits for a slot, in the order of asking. A nil Slots has no bound.
func (s *Slots) acquire(ctx context.Context) (release func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	select {
	case s.free <- struct{}{}:
		return func() { <-s.free }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// slot waits for the backend's own slot, then for a shared one. The time spent
// here counts for the context's deadline, not for the attempt's timeout.
func (p *Provider) slot(ctx context.Context) (release func(), failure *BackendError) {
	own, err := p.own.acquire(ctx)
	if err != nil {
		return nil, p.noTurn(err, "no slot was free in time")
	}
	shared, err := p.cfg.Slots.acquire(ctx)
	if err != nil {
		own()
		return nil, p.noTurn(err, "no slot was free in time")
	}
	return func() { shared(); own() }, nil
}

// noTurn is the error of a call that ended before its turn came.
func (p *Provider) noTurn(cause error, message string) *BackendError {
	reason := reasonOfCause(cause)
	if reason == ReasonTimeout {
		reason = ReasonBudgetSpent // the chain's clock: nothing was started
	}
	err := &BackendError{Reason: reason, Message: message, ExitCode: -1, Err: cause}
	p.sign(err)
	return err
}
