package request

import (
	"encoding/json"

	"github.com/clichain/clichain/openai/internal/apierror"
)

// anyObject is the schema of all JSON objects.
const anyObject = `{"type":"object"}`

// formats are the fields of a format. The library validates every answer against its schema, as with strict.
var formats = fields{"type": {}, "schema": {}, "description": {}, "name": inert, "strict": inert}

// answerFormat is a format as both APIs write it.
type answerFormat struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// schema returns the JSON Schema of the answer; nil: free text. In one of the APIs type and schema are in different
// objects, with the paths at and within.
func (f answerFormat) schema(at, within string) (json.RawMessage, *apierror.Error) {
	switch f.Type {
	case "", "text":
		return nil, nil
	case "json_object":
		return json.RawMessage(anyObject), nil
	case "json_schema":
		return f.described(within)
	}
	return nil, apierror.Field(at+".type", "unsupported_value", "%q is none of text, json_object and json_schema", f.Type)
}

// described returns the schema with the description of the format, for the model.
func (f answerFormat) described(at string) (json.RawMessage, *apierror.Error) {
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(f.Schema, &schema); err != nil || schema == nil {
		return nil, apierror.Field(at+".schema", "invalid_type", "give a JSON Schema, an object")
	}
	if _, ok := schema["description"]; ok || f.Description == "" {
		return f.Schema, nil
	}
	schema["description"], _ = json.Marshal(f.Description) // a text always marshals
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, apierror.Field(at+".schema", "invalid_json", "%v", err)
	}
	return text, nil
}
