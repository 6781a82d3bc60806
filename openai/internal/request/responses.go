package request

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai/internal/apierror"
)

var responsesFields = fields{
	"input": {}, "model": {}, "stream": {}, "stream_options": {}, "instructions": {}, "text": {}, "reasoning": {},
	"metadata": {},

	"user": inert, "safety_identifier": inert, "prompt_cache_key": inert, "prompt_cache_retention": inert,
	"parallel_tool_calls": inert,

	"tools": refused(noTools, "[]"), "tool_choice": refused(noTools, `"none"`, `"auto"`),
	"include":              refused(oneText, "[]", `["reasoning.encrypted_content"]`),
	"top_logprobs":         refused(oneText, "0"),
	"previous_response_id": refused(noMemory), "conversation": refused(noMemory), "prompt": refused(noMemory),
	"background": refused(noMemory, "false"),

	"temperature": unsupported("1"), "top_p": unsupported("1"), "max_output_tokens": unsupported(),
	"service_tier": unsupported(`"auto"`, `"default"`), "store": unsupported("false"),
	"truncation": unsupported(`"disabled"`), "max_tool_calls": unsupported(),
}

var itemFields = fields{"type": {}, "role": {}, "content": {}, "id": inert, "status": inert, "phase": inert}

var responsesParts = parts{
	text: map[string]fields{
		"input_text": {"type": {}, "text": {}},
		"output_text": {
			"type": {}, "text": {}, "annotations": refused(oneText, "[]"), "logprobs": refused(oneText, "[]"),
		},
		"refusal": {"type": {}, "refusal": {}},
	},
	image: map[string]fields{
		"input_image": {"type": {}, "image_url": {}, "file_id": refused(noMemory), "detail": imageDetail},
	},
	url: func(at string, part []byte, _ *Policy) (string, *apierror.Error) {
		var p struct {
			URL string `json:"image_url"`
		}
		if err := json.Unmarshal(part, &p); err != nil {
			return "", object{at: at}.malformed(err)
		}
		return p.URL, nil
	},
}

// ParseResponses reads the body of a request to /v1/responses. It refuses what a CLI cannot do.
func ParseResponses(body []byte, policy *Policy) (*Request, *apierror.Error) {
	var in struct {
		Input        json.RawMessage   `json:"input"`
		Model        string            `json:"model"`
		Stream       bool              `json:"stream"`
		Options      json.RawMessage   `json:"stream_options"`
		Instructions *string           `json:"instructions"`
		Text         json.RawMessage   `json:"text"`
		Reasoning    json.RawMessage   `json:"reasoning"`
		Metadata     map[string]string `json:"metadata"`
		Store        *bool             `json:"store"`
	}
	if err := (object{fields: responsesFields, policy: policy}).read(body, &in); err != nil {
		return nil, err
	}
	r := &Request{Stream: in.Stream, Instructions: in.Instructions, Metadata: in.Metadata}
	r.Model, r.Keep = Model(in.Model), in.Store == nil || *in.Store
	_, err := streamOptions(in.Options)
	if err != nil {
		return nil, err
	}
	if r.Options.Effort, err = reasoning(in.Reasoning, policy); err != nil {
		return nil, err
	}
	if r.Schema, err = responseFormat(in.Text, policy); err != nil {
		return nil, err
	}
	c := &conversation{parts: responsesParts, policy: policy}
	if in.Instructions != nil {
		c.messages = append(c.messages, call.Message{Role: call.RoleSystem, Content: *in.Instructions})
	}
	if err := input(c, in.Input); err != nil {
		return nil, err
	}
	r.Messages, r.Images = c.messages, c.images
	return r, checkImages("input", r.Images)
}

// input reads the input, which is a text or a list of messages.
func input(c *conversation, data json.RawMessage) *apierror.Error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return c.add("input", call.RoleUser, content{text: text})
	}
	var items elements
	if err := json.Unmarshal(data, &items); err != nil {
		return apierror.Field("input", "invalid_type", "write a text, or a list of messages")
	}
	for i, item := range items {
		if err := inputItem(c, fmt.Sprintf("input[%d]", i), item); err != nil {
			return err
		}
	}
	return nil
}

func inputItem(c *conversation, at string, data []byte) *apierror.Error {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return object{at: at}.malformed(err)
	}
	switch kind.Type {
	case "", "message":
	case "item_reference":
		return reference(c, at, data)
	default:
		return apierror.Field(at+".type", "unsupported_value",
			"items of the type %q have no place here: send messages", kind.Type)
	}
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := (object{at: at, fields: itemFields, policy: c.policy}).read(data, &m); err != nil {
		return err
	}
	return c.read(at, m.Role, m.Content, "")
}

// reference adds the answer to which an item refers. It adds each answer only once, so that a small request cannot
// become a large prompt.
func reference(c *conversation, at string, data []byte) *apierror.Error {
	var item struct {
		ID string `json:"id"`
	}
	if err := (object{at: at, fields: fields{"type": {}, "id": {}}}).read(data, &item); err != nil {
		return err
	}
	if c.recalled[item.ID] {
		return apierror.Field(at+".id", "unsupported_value", "an earlier item is the same answer")
	}
	text, ok := "", false
	if c.policy.Recall != nil {
		text, ok = c.policy.Recall(item.ID)
	}
	if !ok {
		return apierror.Invalid(http.StatusNotFound, at+".id", "item_not_found",
			"%s.id: the server no longer has this answer: send its text, as clients do with store=false", at)
	}
	if c.recalled == nil {
		c.recalled = map[string]bool{}
	}
	c.recalled[item.ID] = true
	return c.add(at, call.RoleAssistant, content{text: text})
}

func reasoning(data json.RawMessage, policy *Policy) (effort string, err *apierror.Error) {
	if data == nil {
		return "", nil
	}
	var in struct {
		Effort string `json:"effort"`
	}
	known := fields{"effort": {}, "summary": unsupported(), "generate_summary": unsupported()}
	err = object{at: "reasoning", fields: known, policy: policy}.read(data, &in)
	return in.Effort, err
}

func responseFormat(data json.RawMessage, policy *Policy) (json.RawMessage, *apierror.Error) {
	if data == nil {
		return nil, nil
	}
	var in struct {
		Format json.RawMessage `json:"format"`
	}
	known := fields{"format": {}, "verbosity": unsupported(`"medium"`)}
	if err := (object{at: "text", fields: known, policy: policy}).read(data, &in); err != nil || in.Format == nil {
		return nil, err
	}
	var f answerFormat
	const at = "text.format"
	if err := (object{at: at, fields: formats}).read(in.Format, &f); err != nil {
		return nil, err
	}
	return f.schema(at, at)
}
