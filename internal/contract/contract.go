// Package contract holds what a backend of any kind says to one contract, so that
// a chain reads all of them alike. It knows no CLI, starts nothing, and never
// writes into what a backend returned.
package contract

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/structured"
)

// Backend is whom to ask. A plain value.
type Backend struct {
	Name   string
	Stream func(context.Context, call.Request) iter.Seq2[call.Event, error]
	// Settled reports whether an error is one that the caller reads as it is.
	Settled func(error) bool
}

// Ask asks the backend and holds what it says to the contract: its stream begins
// with one start, says all that the answer says, and ends with an answer that can
// be used, or a [call.Error].
func (b Backend) Ask(ctx context.Context, req call.Request) iter.Seq2[call.Event, error] {
	return func(yield func(call.Event, error) bool) {
		r := newReply(b, req)
		if !yield(call.Event{Kind: call.EventStart, Backend: b.Name}, nil) {
			return
		}
		if r.err == nil && !r.read(b.Stream(ctx, r.req), yield) {
			return
		}
		if r.hold(ctx); r.err != nil {
			yield(call.Event{}, r.err)
			return
		}
		if r.told || yield(call.Event{Kind: call.EventText, Backend: b.Name, Text: r.resp.Text}, nil) {
			yield(call.Event{Kind: call.EventDone, Backend: r.resp.Backend, Response: r.resp}, nil)
		}
	}
}

// Addresses reports whether a model name is that of a backend, or begins with it
// and a slash.
func Addresses(name, model string) bool {
	backend, _, _ := strings.Cut(strings.TrimSpace(model), "/")
	return name != "" && backend == name
}

// Unaddressed is the request with the backend's name cut off its model.
func Unaddressed(name string, req call.Request) call.Request {
	if Addresses(name, req.Model) {
		_, req.Model, _ = strings.Cut(strings.TrimSpace(req.Model), "/")
	}
	return req
}

// reply is what a backend gives back.
type reply struct {
	name    string
	settled func(error) bool
	req     call.Request
	schema  *structured.Schema // nil: free text
	began   time.Time
	told    bool // the reader has the text
	acted   bool // a tool was used that may have changed something
	resp    *call.Response
	err     error
}

// newReply begins a reply; it has an error where the backend cannot be asked.
func newReply(b Backend, req call.Request) *reply {
	r := &reply{name: b.Name, settled: b.Settled, req: Unaddressed(b.Name, req), began: time.Now()}
	schema, err := structured.Compile(req.Schema)
	if r.schema = schema; err != nil {
		r.err = r.failure(context.Background(), err)
	}
	return r
}

// read passes events on up to the end; false: the reader has left.
func (r *reply) read(events iter.Seq2[call.Event, error], yield func(call.Event, error) bool) bool {
	running := true
	r.err = &call.Error{
		Backend: r.name, Reason: call.ReasonBadOutput, ExitCode: -1, Message: "the stream ended without an answer",
	}
	if events == nil {
		return true
	}
	for e, err := range upToEnd(events) {
		if err != nil || e.Kind == call.EventDone {
			r.resp, r.err = e.Response, err
			if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.IsNil() {
				r.err = call.AsError(r.name, err) // nobody can ask a nil pointer what it is
			}
			return true
		}
		e.Backend = cmp.Or(e.Backend, r.name)
		again := false
		if e.Backend == r.name {
			again = running && e.Kind == call.EventStart // the first one was told
			running = e.Kind == call.EventStart || running && e.Kind != call.EventAttempt
		}
		r.told = e.Kind == call.EventDelta || e.Kind == call.EventText || r.told && e.Kind != call.EventReset
		r.acted = r.acted || e.Kind == call.EventToolUse && r.req.Access >= call.AccessWrite
		if again || e.Kind == call.EventAttempt && e.Attempt == nil {
			continue
		}
		if !yield(e, nil) {
			return false
		}
	}
	return true
}

// upToEnd is a stream up to its answer or error. One that yields again after that would panic: it was told to stop, but
// has not looked.
func upToEnd(events iter.Seq2[call.Event, error]) iter.Seq2[call.Event, error] {
	return func(yield func(call.Event, error) bool) {
		over := false
		events(func(e call.Event, err error) bool {
			if over {
				return false
			}
			over = err != nil || e.Kind == call.EventDone
			return yield(e, err) && !over
		})
	}
}

// hold makes the reply a copy of the answer that can be used, or an error.
func (r *reply) hold(ctx context.Context) {
	if r.err == nil {
		r.err = r.accept()
	}
	if r.err != nil && !r.settled(r.err) {
		r.err = r.failure(ctx, r.err)
	}
}

// accept completes a copy of an answer, or refuses it.
func (r *reply) accept() error {
	if r.resp == nil {
		return &call.Error{Reason: call.ReasonBadOutput, ExitCode: -1, Message: "neither an answer nor an error was returned"}
	}
	resp := *r.resp
	resp.Backend, resp.Model = cmp.Or(resp.Backend, r.name), cmp.Or(resp.Model, r.req.Model)
	resp.Duration, resp.Metadata = cmp.Or(resp.Duration, time.Since(r.began)), r.req.Metadata
	if usd := resp.Usage.CostUSD; usd != nil && (math.IsNaN(*usd) || math.IsInf(*usd, 0)) {
		resp.Usage.CostUSD = nil
	}
	r.resp = &resp
	if strings.TrimSpace(resp.Text) == "" {
		return r.refused(call.ReasonEmpty, "the answer is empty")
	}
	if r.schema == nil {
		return nil
	}
	text, problem := r.schema.Accept(resp.Text)
	if problem != "" {
		return r.refused(call.ReasonBadOutput, "the answer does not meet the schema: "+problem)
	}
	resp.Text = text
	return nil
}

// refused is the error of an answer that is of no use. Who answered may have
// done all that was asked for.
func (r *reply) refused(reason call.Reason, message string) *call.Error {
	return &call.Error{
		Reason: reason, ExitCode: -1, Message: message, Partial: r.resp.Text, Usage: r.resp.Usage,
		SideEffects: r.req.Access >= call.AccessWrite,
	}
}

// failure is an error as a BackendError with a name and a Reason. Where it is no more than the
// error of the context, the cause of that says more.
func (r *reply) failure(ctx context.Context, err error) *call.Error {
	cause := judge.End(ctx)
	if cause != nil && err == ctx.Err() {
		err = cause
	}
	own := *call.AsError(r.name, err)
	own.SideEffects = own.SideEffects || r.acted
	named, ok := errors.AsType[*call.Error](err)
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if cause != nil && ended && (!ok || named.Reason == "") {
		own.Reason = judge.ReasonOfCause(cause)
	}
	return &own
}
