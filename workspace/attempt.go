package workspace

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/chainview"
	"github.com/clichain/clichain/internal/contract"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/specs"
	"github.com/clichain/clichain/workspace/internal/rename"
)

// The texts of the EventStatus that shows what an attempt does besides the run of its backend. After StatusCheck
// follows the command.
const (
	StatusCopy  = "workspace: copy"
	StatusCheck = "workspace: check "
)

// attempt is one call of the wrapped backend in a private copy.
type attempt struct {
	*plan
	yield   func(clichain.Event, error) bool
	left    bool // the reader of the stream has stopped
	copied  *privateCopy
	renamed *rename.Stream
	outside atomic.Bool // a tool may have changed something outside the copy
	tools   *call.HostTools
}

// stream answers the request and yields the events of the call.
func (p *plan) stream(ctx context.Context, yield func(clichain.Event, error) bool) {
	a := &attempt{plan: p, yield: yield, tools: call.HostToolsOf(ctx)}
	resp, err := a.answer(ctx)
	switch {
	case a.left:
	case err != nil:
		yield(clichain.Event{}, err)
	default:
		yield(clichain.Event{Kind: call.EventDone, Backend: resp.Backend, Response: resp}, nil)
	}
}

// emit yields an event. After the reader has stopped, it does nothing.
func (a *attempt) emit(events ...clichain.Event) {
	for _, e := range events {
		a.left = a.left || !a.yield(e, nil)
	}
}

func (a *attempt) status(text string) {
	a.emit(clichain.Event{Kind: call.EventStatus, Backend: a.Name(), Text: text})
}

// answer makes the copy, runs the backend and the checks in it, and removes the changes from the copy.
func (a *attempt) answer(ctx context.Context) (resp *clichain.Response, err error) {
	a.emit(clichain.Event{Kind: call.EventStart, Backend: a.Name()})
	a.status(StatusCopy)
	if a.left {
		return nil, nil
	}
	a.copied, err = a.open(ctx)
	if err != nil {
		return nil, a.broken(ctx, err, call.ReasonSpawn, call.StageSkipped)
	}
	defer func() {
		if failed := a.copied.close(); failed != nil && resp != nil {
			resp.Warnings = append(resp.Warnings, "the private copy of the directory could not be cleaned: "+failed.Error())
		}
	}()
	a.renamed = a.copied.paths.Stream()
	resp, err = a.run(ctx)
	if err != nil || a.left {
		return nil, a.settled(err)
	}
	changes, err := a.copied.changes(ctx)
	if err != nil {
		return nil, a.settled(a.of(resp, a.broken(ctx, err, call.ReasonExit, call.StageStarted)))
	}
	if failed := a.check(ctx, resp); failed != nil || a.left {
		return nil, a.settled(failed)
	}
	changes.SideEffects = !a.harmless(resp.Confined)
	resp = a.copied.paths.Response(resp, len(a.req.Schema) > 0)
	resp.Changes, resp.Session = changes, ""
	resp.Warnings = slices.Concat(a.copied.warnings(), resp.Warnings)
	return resp, nil
}

// run runs the backend in the copy.
func (a *attempt) run(ctx context.Context) (resp *clichain.Response, err error) {
	view := chainview.Of(ctx)
	view.MilestonesOnly = false // the names of the tools matter
	view.Discards = func() bool { return a.harmless(a.confined) }
	req := a.req
	req.Dir = a.copied.dir()
	inner := contract.Backend{
		Name: a.Name(), Stream: a.inner.Stream, Settled: func(err error) bool { return call.AsChainError(err) != nil },
	}
	started := false
	for e, err := range inner.Ask(chainview.With(ctx, view), req) {
		if err != nil {
			a.emit(a.renamed.End()...)
			return nil, err
		}
		if e.Kind == call.EventDone {
			a.emit(a.renamed.End()...)
			return e.Response, nil
		}
		a.see(&e)
		if e.Kind != call.EventStart || started { // the first one was emitted before the copy
			a.emit(a.renamed.Next(e)...)
		}
		started = true
		if a.left {
			break
		}
	}
	return nil, nil // the reader has stopped, because otherwise Ask yields an answer or an error
}

// see takes note of an event of the backend.
func (a *attempt) see(e *clichain.Event) {
	switch e.Kind {
	case call.EventToolUse:
		if !slices.Contains(a.cfg.LocalTools, e.Name) && !slices.Contains(a.builtinTools(), e.Name) {
			a.outside.Store(true)
		}
	case call.EventSession:
		e.Session = "" // no call can continue it
	}
}

// builtinTools lists the tools that act only on the working directory.
func (a *attempt) builtinTools() []string {
	if a.provider == nil {
		return nil
	}
	return specs.LocalTools(a.provider.Spec())
}

// check runs the checks in the copy. Their error is rejected if one fails.
func (a *attempt) check(ctx context.Context, resp *clichain.Response) error {
	settings := a.checks
	settings.Env = append(slices.Clone(settings.Env), "CLICHAIN_MODEL="+resp.Model)
	for _, args := range a.cfg.Checks {
		if a.status(StatusCheck + strings.Join(args, " ")); a.left {
			return nil
		}
		failed := settings.Run(ctx, args, a.copied.dir())
		if failed == nil {
			continue
		}
		failed.Backend, failed.Stage = a.Name(), call.StageStarted
		return a.of(resp, failed)
	}
	return nil
}

// of adds what is known of an answer to the error that takes its place.
func (a *attempt) of(resp *clichain.Response, err *call.Error) *call.Error {
	err.Partial, err.Usage, err.Warnings, err.Earlier = resp.Text, resp.Usage, resp.Warnings, resp.Attempts
	err.Confined = resp.Confined
	err.SideEffects = true // unless settled removes it
	return err
}

// broken returns the error of a copy that could not be made or read.
func (a *attempt) broken(ctx context.Context, err error, reason call.Reason, stage call.Stage) *call.Error {
	if cause := judge.End(ctx); ctx.Err() != nil {
		return &call.Error{
			Backend: a.Name(), Reason: judge.ReasonOfCause(cause), ExitCode: -1, Err: cause, Stage: stage,
			Message: "the call ended during the work on the private copy of the directory",
		}
	}
	failed := *call.AsError(a.Name(), err)
	if known, ok := err.(*call.Error); !ok || known.Reason == "" {
		failed.Reason, failed.Message = reason, err.Error()
	}
	failed.Backend, failed.Stage = a.Name(), stage
	return &failed
}

// settled returns the error of an attempt whose copy is discarded. Nil stays nil.
func (a *attempt) settled(err error) error {
	if err == nil {
		return nil
	}
	return a.discard(a.copied.paths.Error(err))
}

// discard tells in an error, which it changes, that the changes in the copy are discarded.
func (a *attempt) discard(err error) error {
	switch err := err.(type) {
	case *call.ChainError:
		for i := range err.Attempts {
			err.Attempts[i].Err = a.discard(err.Attempts[i].Err)
		}
	case *call.Error:
		if err.Stage != call.StageSkipped {
			err.Discarded, err.SideEffects = true, err.SideEffects && !a.harmless(err.Confined)
		}
	}
	return err
}

// harmless reports whether a run has changed nothing outside the copy. confined is what confined it.
func (a *attempt) harmless(confined string) bool {
	servers := len(a.req.Options.MCPConfig) > 0
	switch {
	case a.outside.Load(), a.tools.HaveActed():
		return false
	case a.cfg.AssumeIsolated:
		return !servers || a.shown == clispec.ToolsAtStart
	case !isolates(confined):
		return false
	case a.provider == nil: // a chain, whose backends may hide tools
		return !servers
	}
	// A run that reports a tool at its end does not report a tool that was running when it died.
	return a.shown == clispec.ToolsAtStart || a.shown == clispec.ToolsAtEnd && !servers
}
