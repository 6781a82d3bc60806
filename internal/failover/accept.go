package failover

import (
	"context"
	"errors"
	"fmt"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/judge"
)

// accept lets the check of the chain decide about the answer of an attempt. A refused answer becomes the error of the
// attempt. ctx ends with the candidate's share of the time.
func (l *Loop) accept(ctx context.Context, view chainview.View, a *attempt) {
	if l.Accept == nil || a.resp == nil {
		return
	}
	// A backend that the check asks is no part of this chain, but its processes end with the share too.
	ctx = chainview.With(ctx, chainview.View{Deadline: view.Deadline, KillAt: view.KillAt, Allotted: view.Allotted})
	if problem := l.check(ctx, a.resp); problem != nil {
		a.refused, a.resp = a.resp, nil
		a.err = l.refusal(ctx, a, problem)
	}
}

// check runs the check on copies of the request and the answer. It returns a panic of the check, or of the method Error
// of its error, as an error.
func (l *Loop) check(ctx context.Context, resp *call.Response) (problem error) {
	defer func() {
		if v := recover(); v != nil {
			problem = panicError(v)
		}
	}()
	if problem = l.Accept(ctx, l.Req.Clone(), resp.Clone()); problem != nil {
		_ = problem.Error() // panics for a nil pointer that the check returned as an error
	}
	return problem
}

// panicError returns the error of a check that panicked with the value v.
func panicError(v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("the check panicked: %w", err)
	}
	return fmt.Errorf("the check panicked: %v", v)
}

// refusal returns the error of an attempt whose answer the check refused.
func (l *Loop) refusal(ctx context.Context, a *attempt, problem error) *call.Error {
	resp := a.refused
	err := &call.Error{
		Backend: resp.Backend, Reason: call.ReasonRejected, Message: problem.Error(), Partial: resp.Text,
		Usage: resp.Usage, Earlier: resp.Attempts, Warnings: resp.Warnings, Err: problem, Stage: call.StageStarted,
		SideEffects: l.Req.Access >= call.AccessWrite && !a.noTool || call.HostToolsOf(ctx).HaveActed(),
		Session:     resp.Session,
	}
	if changes := resp.Changes; changes != nil { // the caller does not get them
		err.Discarded, err.SideEffects = true, changes.SideEffects
	}
	if ctx.Err() != nil && (errors.Is(problem, ctx.Err()) || errors.Is(problem, context.Cause(ctx))) {
		end := judge.End(ctx)
		err.Reason, err.Err = judge.ReasonOfCause(end), errors.Join(end, problem)
		err.Message = "the check of the answer was stopped: " + problem.Error()
	}
	return err
}
