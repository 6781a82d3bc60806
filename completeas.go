package clichain

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/structured"
)

// CompleteAs asks for an answer of a Go type: it makes the request's Schema
// from T, unless there is one, and reads the answer into a T. The errors are
// those of Complete, and bad_option for a type that no schema can be made of.
//
// Fields are required unless their tag says omitempty or omitzero, pointers and
// slices may be null, and a tag `jsonschema:"..."` describes a field to the
// model, or lists what it may be: `jsonschema:"enum=bug,enum=feature"`. See
// docs/how-to/structured.md.
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
