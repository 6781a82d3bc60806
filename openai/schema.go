package openai

import (
	"encoding/json"
)

// anyObject is the schema of an answer that only has to be a JSON object.
const anyObject = `{"type":"object"}`

// formats are the fields of a format for the answer. The library holds each answer against its schema: it is always
// strict.
var formats = fields{"type": {}, "schema": {}, "description": {}, "name": ignored, "strict": ignored}

// answerFormat is a format as both APIs write it.
type answerFormat struct {
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// schema is the JSON Schema that the format asks for, which stands within another object than its type in one of the
// APIs. Nil: free text.
func (f answerFormat) schema(at, within string) (json.RawMessage, *apiError) {
	switch f.Type {
	case "", "text":
		return nil, nil
	case "json_object":
		return json.RawMessage(anyObject), nil
	case "json_schema":
		return f.described(within)
	}
	return nil, refusal(at+".type", "unsupported_value", "%q is none of text, json_object and json_schema", f.Type)
}

// described is the schema with the description of the format, which tells the model what the answer is for.
func (f answerFormat) described(at string) (json.RawMessage, *apiError) {
	var schema map[string]json.RawMessage
	if err := json.Unmarshal(f.Schema, &schema); err != nil || schema == nil {
		return nil, refusal(at+".schema", "invalid_type", "give a JSON Schema, an object")
	}
	if _, has := schema["description"]; has || f.Description == "" {
		return f.Schema, nil
	}
	schema["description"], _ = json.Marshal(f.Description) // a text always marshals
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, refusal(at+".schema", "invalid_json", "%v", err)
	}
	return text, nil
}
