// Package contract makes the stream of any backend satisfy the contract of a Backend, so that a chain can treat all
// backends alike. It starts nothing, and never modifies the values that a backend returns.
package contract

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/structured"
)

// Backend is the backend to call. It is a plain value.
type Backend struct {
	Name   string
	Stream func(context.Context, call.Request) iter.Seq2[call.Event, error]
	// Settled reports whether the caller receives an error unchanged.
	Settled func(error) bool
}

// Ask calls the backend. The stream begins with one start event, contains all text of the answer, and ends with a valid
// answer or a [call.Error].
func (b Backend) Ask(ctx context.Context, req call.Request) iter.Seq2[call.Event, error] {
	return func(yield func(call.Event, error) bool) {
		r := newReply(b, req)
		if !yield(call.Event{Kind: call.EventStart, Backend: b.Name}, nil) {
			return
		}
		if r.err == nil && !r.read(b.Stream(ctx, r.req), yield) {
			return
		}
		if r.finish(ctx); r.err != nil {
			yield(call.Event{}, r.err)
			return
		}
		if r.text == delivered || yield(call.Event{Kind: call.EventText, Backend: b.Name, Text: r.resp.Text}, nil) {
			yield(call.Event{Kind: call.EventDone, Backend: r.resp.Backend, Response: r.resp}, nil)
		}
	}
}

// Addresses reports whether a model name equals the name of a backend, or begins with the name and a slash.
func Addresses(name, model string) bool {
	backend, _, _ := strings.Cut(strings.TrimSpace(model), "/")
	return name != "" && backend == name
}

// Unaddressed returns the request without the backend's name in its model.
func Unaddressed(name string, req call.Request) call.Request {
	if Addresses(name, req.Model) {
		_, req.Model, _ = strings.Cut(strings.TrimSpace(req.Model), "/")
	}
	return req
}

// reply is the answer of a backend, and the state of its stream.
type reply struct {
	name    string
	settled func(error) bool
	req     call.Request
	schema  *structured.Schema // nil for free text
	began   time.Time
	run     runState
	text    textState
	acted   bool // a tool was used that may have changed something
	resp    *call.Response
	err     error
}

// newReply returns a reply. Its error is set if the request is invalid.
func newReply(b Backend, req call.Request) *reply {
	r := &reply{name: b.Name, settled: b.Settled, req: Unaddressed(b.Name, req), began: time.Now()}
	schema, err := structured.Compile(req.Schema)
	if r.schema = schema; err != nil {
		r.err = r.failure(context.Background(), err)
	}
	return r
}

// finish sets the reply to a valid copy of the answer, or to an error.
func (r *reply) finish(ctx context.Context) {
	if r.err == nil {
		r.err = r.accept(ctx)
	}
	if r.err != nil && !r.settled(r.err) {
		r.err = r.failure(ctx, r.err)
	}
}

// accept completes a copy of the answer, or rejects it.
func (r *reply) accept(ctx context.Context) error {
	if r.resp == nil {
		return &call.Error{Reason: call.ReasonBadOutput, ExitCode: -1,
			Message: "the backend returned neither an answer nor an error"}
	}
	resp := *r.resp
	resp.Backend, resp.Model = cmp.Or(resp.Backend, r.name), cmp.Or(resp.Model, r.req.Model)
	resp.Duration, resp.Metadata = cmp.Or(resp.Duration, time.Since(r.began)), r.req.Metadata
	if usd := resp.Usage.CostUSD; usd != nil && (math.IsNaN(*usd) || math.IsInf(*usd, 0)) {
		resp.Usage.CostUSD = nil
	}
	r.resp = &resp
	if strings.TrimSpace(resp.Text) == "" {
		return r.rejected(ctx, call.ReasonEmpty, "the answer is empty")
	}
	if r.schema == nil {
		return nil
	}
	text, problem := r.schema.Accept(resp.Text)
	if problem != "" {
		return r.rejected(ctx, call.ReasonBadOutput, "the answer does not match the schema: "+problem)
	}
	resp.Text = text
	return nil
}

// rejected returns the error of an invalid answer. The backend may have done what the request asks for.
func (r *reply) rejected(ctx context.Context, reason call.Reason, message string) *call.Error {
	return &call.Error{
		Reason: reason, ExitCode: -1, Message: message, Partial: r.resp.Text, Usage: r.resp.Usage, Quota: r.resp.Quota,
		SideEffects: r.req.Access >= call.AccessWrite || call.HostToolsOf(ctx).HaveActed(),
	}
}

// failure returns an error as a [call.Error] with a name and a Reason. The cause of the context replaces its plain
// error.
func (r *reply) failure(ctx context.Context, err error) *call.Error {
	cause := judge.End(ctx)
	if cause != nil && err == ctx.Err() {
		err = cause
	}
	own := *call.AsError(r.name, err)
	own.SideEffects = own.SideEffects || r.acted && !own.Discarded
	original, ok := errors.AsType[*call.Error](err)
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if cause != nil && ended && (!ok || original.Reason == "") {
		own.Reason = judge.ReasonOfCause(cause)
	}
	return &own
}
