package request

import (
	"encoding/json"
	"fmt"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai/internal/apierror"
)

var responsesFields = fields{
	"input": {}, "model": {}, "stream": {}, "stream_options": {}, "instructions": {}, "text": {}, "reasoning": {},
	"metadata": {},

	"user": ignored, "safety_identifier": ignored, "prompt_cache_key": ignored, "prompt_cache_retention": ignored,
	"parallel_tool_calls": ignored,

	"tools": refused(noTools, "[]"), "tool_choice": refused(noTools, `"none"`, `"auto"`),
	"max_tool_calls": refused(noTools), "include": refused(oneText, "[]"), "top_logprobs": refused(oneText, "0"),
	"previous_response_id": refused(noMemory), "conversation": refused(noMemory), "prompt": refused(noMemory),
	"background": refused(noMemory, "false"), "store": refused(noMemory, "false"),
	"truncation": refused("nothing is cut", `"disabled"`),

	"temperature": sampling("1"), "top_p": sampling("1"), "max_output_tokens": sampling(),
	"service_tier": sampling(`"auto"`, `"default"`),
}

var itemFields = fields{"type": {}, "role": {}, "content": {}, "id": ignored, "status": ignored, "phase": ignored}

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
	url: func(at string, part []byte) (string, *apierror.Error) {
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
func ParseResponses(body []byte, ignored Ignored) (*Request, *apierror.Error) {
	var in struct {
		Input        json.RawMessage   `json:"input"`
		Model        string            `json:"model"`
		Stream       bool              `json:"stream"`
		Options      json.RawMessage   `json:"stream_options"`
		Instructions *string           `json:"instructions"`
		Text         json.RawMessage   `json:"text"`
		Reasoning    json.RawMessage   `json:"reasoning"`
		Metadata     map[string]string `json:"metadata"`
	}
	if err := (object{fields: responsesFields, ignored: ignored}).read(body, &in); err != nil {
		return nil, err
	}
	r := &Request{Stream: in.Stream, Instructions: in.Instructions, Metadata: in.Metadata}
	r.Model = model(in.Model)
	_, err := streamOptions(in.Options)
	if err != nil {
		return nil, err
	}
	if r.Options.Effort, err = reasoning(in.Reasoning, ignored); err != nil {
		return nil, err
	}
	if r.Schema, err = responseFormat(in.Text, ignored); err != nil {
		return nil, err
	}
	c := &conversation{parts: responsesParts}
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
	if kind.Type != "" && kind.Type != "message" {
		return apierror.Field(at+".type", "unsupported_value",
			"items of the type %q have no place here: send messages", kind.Type)
	}
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := (object{at: at, fields: itemFields}).read(data, &m); err != nil {
		return err
	}
	return c.read(at, m.Role, m.Content, "")
}

func reasoning(data json.RawMessage, ignored Ignored) (effort string, err *apierror.Error) {
	if data == nil {
		return "", nil
	}
	var in struct {
		Effort string `json:"effort"`
	}
	known := fields{"effort": {}, "summary": refused(oneText), "generate_summary": refused(oneText)}
	err = object{at: "reasoning", fields: known, ignored: ignored}.read(data, &in)
	return in.Effort, err
}

func responseFormat(data json.RawMessage, ignored Ignored) (json.RawMessage, *apierror.Error) {
	if data == nil {
		return nil, nil
	}
	var in struct {
		Format json.RawMessage `json:"format"`
	}
	known := fields{"format": {}, "verbosity": sampling(`"medium"`)}
	if err := (object{at: "text", fields: known, ignored: ignored}).read(data, &in); err != nil || in.Format == nil {
		return nil, err
	}
	var f answerFormat
	const at = "text.format"
	if err := (object{at: at, fields: formats}).read(in.Format, &f); err != nil {
		return nil, err
	}
	return f.schema(at, at)
}
