package clichain

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/structured"
)

// CompleteAs asks a backend for an answer of the Go type T. It makes the Schema of the request from T, unless the
// request has a Schema, and unmarshals the answer into a T. The errors are those of Complete, bad_option for a type
// that has no JSON Schema, and bad_output for an answer that cannot be unmarshaled.
//
// A field is required unless its tag has omitempty or omitzero. Pointers and slices may be null. The tag
// `jsonschema:"..."` holds a description of the field for the model, or its possible values:
// `jsonschema:"enum=bug,enum=feature"`. See docs/how-to/structured.md.
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
			Message: "the answer cannot be unmarshaled into " + reflect.TypeFor[T]().String(),
			Partial: resp.Text, Usage: resp.Usage, Stage: call.StageStarted, Err: err,
		}
	}
	return value, resp, nil
}
