package structured

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/plaintext"
)

// maxSchema bounds Request.Schema, in bytes.
const maxSchema = 1 << 20

// schemaURL names the schema to the validator. It is never opened: its scheme
// exists so that a relative reference does not become a path of this machine.
const schemaURL = "clichain:///schema"

// Schema is a Request.Schema that was found to be one. It serves one
// call, for it counts the work of checking.
type Schema struct {
	schema *jsonschema.Schema
	limit  *stepLimit
}

// Compile finds the mistakes in a schema before anything starts. It is
// nil for an empty one. Nothing is ever loaded: a schema has to be whole.
func Compile(raw json.RawMessage) (*Schema, *call.Error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if len(raw) > maxSchema {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "has %d bytes: at most %d are taken", len(raw), maxSchema)
	}
	if problem := plaintext.Problem(string(raw)); problem != "" {
		return nil, call.Errorf(call.ReasonBadRequest, "schema", "%s", problem)
	}
	document, err := jsontext.Strict(string(raw))
	if err != nil {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "%s", invalidJSON(raw, err))
	}
	if _, ok := document.(map[string]any); !ok {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "must be a JSON object: use {} for an answer of any JSON")
	}
	s := &Schema{limit: new(stepLimit)}
	if s.schema, err = s.compile(document); err != nil {
		return nil, call.Errorf(call.ReasonBadOption, "schema", "%s", schemaMistake(err))
	}
	return s, nil
}

func (s *Schema) compile(document any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.AssertFormat() // else "format" would be no more than a remark
	c.RegisterVocabulary(s.limit.vocabulary())
	c.AssertVocabs()
	if err := c.AddResource(schemaURL, document); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}

// invalidJSON keeps the words for JSON that does not parse the same as those
// of checkOptions.
func invalidJSON(raw json.RawMessage, err error) string {
	if json.Valid(raw) {
		return err.Error()
	}
	return "is no valid JSON"
}

// errRemote refuses a reference that leads out of the schema.
var errRemote = errors.New("only references inside the schema are followed, nothing is loaded")

// noLoader loads nothing, neither from a network nor from a file.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errRemote }

// schemaMistake says what is wrong with a schema, in one line.
func schemaMistake(err error) string {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if inner, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			return "is no valid JSON Schema: " + plaintext.OneLine(mismatches(inner, 3))
		}
	}
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Sprintf("refers to %q: %v", load.URL, load.Err)
	}
	return "is no valid JSON Schema: " + plaintext.OneLine(err.Error())
}

// Accept takes the JSON out of an answer, as it was written, or says in lines
// why it does not do.
func (s *Schema) Accept(text string) (document, problem string) {
	document, err := jsontext.Sole(text)
	if err != nil {
		return "", err.Error()
	}
	value, err := jsontext.Strict(document)
	if err != nil {
		return "", err.Error()
	}
	err = s.limit.guard(len(document), func() error { return s.schema.Validate(value) })
	if mismatch, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return "", mismatches(mismatch, maxMismatches)
	}
	if err != nil {
		return "", err.Error()
	}
	return document, ""
}
