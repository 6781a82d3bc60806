package clichain

import (
	"cmp"
	"context"
	"encoding/json"
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

// Backend answers requests. [Provider] and [Chain] are Backends, so chains
// nest; [BackendFunc] makes one of a function, and any type of yours can be one.
//
// # What a chain makes of a Backend of your own
//
// An error: one that holds a [*BackendError] has its Reason. Else the Reason is
// that of the Err value that it wraps, as in fmt.Errorf("...: %w",
// ErrRateLimited); canceled or timeout for the error of a context that has
// ended; timeout for any other error that says so; and exit for the rest. The
// chain goes on to its next backend unless the Reason says that no other could
// do better (bad_request, bad_option, bad_session, canceled), or SideEffects is
// set. An unknown Reason goes on.
//
// An answer: without text it is empty, and where the request has a Schema that
// it does not meet, bad_output; with AccessWrite and more such an answer ends the
// chain, because what was asked for may have been done. Backend, Model and
// Duration are filled in where they are missing, Metadata is the request's, and
// a cost that is no number is unknown. The chain works on a copy: a Response, an
// error and all that they hold may be shared and returned again.
//
// The model "name" or "name/model" addresses the backend of that name; it gets
// the request without that name in it.
type Backend interface {
	// Name is the backend's name, such as "claude". It never changes, and is the
	// only one of its kind in a chain.
	Name() string
	// Complete answers the request, or says why not. It returns soon after the
	// context has ended, and leaves nothing behind. It must be safe for
	// concurrent use.
	Complete(ctx context.Context, req Request) (*Response, error)
	// Stream answers in events, the last of which is an EventDone. An error is
	// terminal. A stream can be read once; leaving it early stops the call. A
	// chain uses Stream alone.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// BackendFunc makes a Backend of a function, for an API, a cache or a test. The
// function may return what a [Backend] may, and must be safe for concurrent use.
func BackendFunc(name string, answer func(ctx context.Context, req Request) (*Response, error)) Backend {
	return &function{name, answer}
}

type function struct {
	name   string
	answer func(ctx context.Context, req Request) (*Response, error)
}

func (f *function) Name() string { return f.name }

func (f *function) Complete(ctx context.Context, req Request) (*Response, error) {
	return call.Collect(f.Stream(ctx, req))
}

func (f *function) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return call.Once(held(ctx, f.name, req, func(ctx context.Context, req Request) iter.Seq2[Event, error] {
		return call.Stream(ctx, func(ctx context.Context, _ func(Event)) (*Response, error) {
			if f.answer == nil {
				return nil, call.Errorf(ReasonBadOption, "backend", "its function is nil")
			}
			resp, err := f.answer(ctx, req)
			if resp == nil && err == nil {
				err = noAnswer(f)
			}
			return resp, err
		})
	}))
}

// streamOf asks a backend of any kind. Those of this package keep the contract
// by themselves.
func streamOf(ctx context.Context, b Backend, req Request) iter.Seq2[Event, error] {
	switch b.(type) {
	case *Chain:
		return b.Stream(ctx, req)
	case *Provider, *function:
		return b.Stream(withHooks(ctx, nil), req)
	}
	return held(withHooks(ctx, nil), b.Name(), req, b.Stream)
}

// held holds what a backend says to the contract of [Backend]: its stream begins
// with one start, says all that the answer says, and ends with an answer that
// can be used, or a BackendError.
func held(
	ctx context.Context, name string, req Request, stream func(context.Context, Request) iter.Seq2[Event, error],
) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r := newReply(name, req)
		if !yield(Event{Kind: EventStart, Backend: name}, nil) {
			return
		}
		if r.err == nil && !r.read(stream(ctx, r.req), yield) {
			return
		}
		if r.hold(ctx); r.err != nil {
			yield(Event{}, r.err)
			return
		}
		if r.told || yield(Event{Kind: EventText, Backend: name, Text: r.resp.Text}, nil) {
			yield(Event{Kind: EventDone, Backend: r.resp.Backend, Response: r.resp}, nil)
		}
	}
}

// same reports whether two backends of a chain are one. Not every type can be
// compared, but names can, other than those of chains that were given none.
func same(a, b Backend) bool {
	if a, ok := a.(*Chain); ok {
		b, ok := b.(*Chain)
		return ok && a == b
	}
	return a.Name() == b.Name()
}

// claims reports whether a model name addresses a backend.
func claims(b Backend, model string) bool {
	if b, ok := b.(*Chain); ok && b.claimant(model) != nil {
		return true
	}
	if p := providerOf(b); p != nil && p.spec != nil && p.composer.Models.Claims(model) {
		return true
	}
	return addresses(b.Name(), model)
}

func addresses(name, model string) bool {
	backend, _, _ := strings.Cut(strings.TrimSpace(model), "/")
	return name != "" && backend == name
}

// unaddressed is the request with the backend's name cut off its model.
func unaddressed(name string, req Request) Request {
	if addresses(name, req.Model) {
		_, req.Model, _ = strings.Cut(strings.TrimSpace(req.Model), "/")
	}
	return req
}

// reply is what a backend gives back.
type reply struct {
	name   string
	req    Request
	schema *structured.Schema // nil: free text
	began  time.Time
	told   bool // the reader has the text
	acted  bool // a tool was used that may have changed something
	resp   *Response
	err    error
}

// newReply begins a reply; it has an error where the backend cannot be asked.
func newReply(name string, req Request) *reply {
	r := &reply{name: name, req: unaddressed(name, req), began: time.Now()}
	schema, err := structured.Compile(req.Schema)
	if r.schema = schema; err != nil {
		r.err = r.failure(context.Background(), err)
	}
	return r
}

// read passes events on up to the end; false: the reader has left.
func (r *reply) read(events iter.Seq2[Event, error], yield func(Event, error) bool) bool {
	running := true
	r.err = &BackendError{Backend: r.name, Reason: ReasonBadOutput, ExitCode: -1, Message: "the stream ended without an answer"}
	for e, err := range events {
		if err != nil || e.Kind == EventDone {
			r.resp, r.err = e.Response, err
			return true
		}
		e.Backend = cmp.Or(e.Backend, r.name)
		again := false
		if e.Backend == r.name {
			again = running && e.Kind == EventStart // the first one was told
			running = e.Kind == EventStart || running && e.Kind != EventAttempt
		}
		r.told = e.Kind == EventDelta || e.Kind == EventText || r.told && e.Kind != EventReset
		r.acted = r.acted || e.Kind == EventToolUse && r.req.Access >= AccessWrite
		if again || e.Kind == EventAttempt && e.Attempt == nil {
			continue
		}
		if !yield(e, nil) {
			return false
		}
	}
	return true
}

// hold makes the reply a copy of the answer that can be used, or an error.
func (r *reply) hold(ctx context.Context) {
	if r.err == nil {
		r.err = r.accept()
	}
	if r.err != nil && chainIn(r.err) == nil {
		r.err = r.failure(ctx, r.err)
	}
}

// accept completes a copy of an answer, or refuses it.
func (r *reply) accept() error {
	if r.resp == nil {
		return &BackendError{Reason: ReasonBadOutput, ExitCode: -1, Message: "neither an answer nor an error was returned"}
	}
	resp := *r.resp
	resp.Backend, resp.Model = cmp.Or(resp.Backend, r.name), cmp.Or(resp.Model, r.req.Model)
	resp.Duration, resp.Metadata = cmp.Or(resp.Duration, time.Since(r.began)), r.req.Metadata
	if usd := resp.Usage.CostUSD; usd != nil && (math.IsNaN(*usd) || math.IsInf(*usd, 0)) {
		resp.Usage.CostUSD = nil
	}
	r.resp = &resp
	if strings.TrimSpace(resp.Text) == "" {
		return r.refused(ReasonEmpty, "the answer is empty")
	}
	if r.schema == nil {
		return nil
	}
	text, problem := r.schema.Accept(resp.Text)
	if problem != "" {
		return r.refused(ReasonBadOutput, "the answer does not meet the schema: "+problem)
	}
	resp.Text = text
	return nil
}

// refused is the error of an answer that is of no use. Who answered may have
// done all that was asked for.
func (r *reply) refused(reason Reason, message string) *BackendError {
	return &BackendError{
		Reason: reason, ExitCode: -1, Message: message, Partial: r.resp.Text, Usage: r.resp.Usage,
		SideEffects: r.req.Access >= AccessWrite,
	}
}

// failure is an error as a BackendError with a name and a Reason.
func (r *reply) failure(ctx context.Context, err error) *BackendError {
	own := *call.AsError(r.name, err)
	own.SideEffects = own.SideEffects || r.acted
	named, ok := errors.AsType[*BackendError](err)
	if ok && named.Reason != "" || ctx.Err() == nil {
		return &own
	}
	switch cause := context.Cause(ctx); {
	case !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
	case errors.Is(cause, context.DeadlineExceeded):
		own.Reason = ReasonTimeout
	default:
		own.Reason = judge.ReasonOfCause(cause)
	}
	return &own
}

// CompleteAs asks for an answer of a Go type: it makes the request's Schema
// from T, unless there is one, and reads the answer into a T. The errors are
// those of Complete, and bad_option for a type that no schema can be made of.
//
// Fields are required unless their tag says omitempty or omitzero, pointers and
// slices may be null, and a tag `jsonschema:"..."` describes a field to the
// model. See docs/structured.md.
func CompleteAs[T any](ctx context.Context, b Backend, req Request) (T, *Response, error) {
	var value, none T
	if len(req.Schema) == 0 {
		schema, err := structured.OfType(reflect.TypeFor[T]())
		if err != nil {
			return none, nil, err
		}
		req.Schema = schema
	}
	resp, err := b.Complete(ctx, req)
	if err != nil {
		return none, nil, err
	}
	if err := json.Unmarshal([]byte(resp.Text), &value); err != nil {
		return none, nil, &BackendError{
			Backend: resp.Backend, Reason: ReasonBadOutput,
			Message: "the answer cannot be read into " + reflect.TypeFor[T]().String(),
			Partial: resp.Text, Usage: resp.Usage, Stage: call.StageStarted, Err: err,
		}
	}
	return value, resp, nil
}
