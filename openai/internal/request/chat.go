package request

import (
	"encoding/json"
	"fmt"

	"github.com/clichain/clichain/openai/internal/apierror"
)

var chatFields = fields{
	"messages": {}, "model": {}, "stream": {}, "stream_options": {}, "response_format": {}, "reasoning_effort": {},
	"stop": {},

	"user": inert, "metadata": inert, "safety_identifier": inert, "prompt_cache_key": inert,
	"prompt_cache_retention": inert, "parallel_tool_calls": inert,

	"tools": refused(noTools, "[]"), "tool_choice": refused(noTools, `"none"`, `"auto"`),
	"functions": refused(noTools, "[]"), "function_call": refused(noTools, `"none"`, `"auto"`),
	"web_search_options": refused(noTools),
	"modalities":         refused(noMedia, `["text"]`), "audio": refused(noMedia),
	"n": refused(oneText, "1"), "logprobs": refused(oneText, "false"), "top_logprobs": refused(oneText, "0"),

	"temperature": unsupported("1"), "top_p": unsupported("1"), "top_k": unsupported(), "min_p": unsupported(),
	"frequency_penalty": unsupported("0"), "presence_penalty": unsupported("0"), "repetition_penalty": unsupported("1"),
	"logit_bias": unsupported("{}"), "seed": unsupported(), "max_tokens": unsupported(),
	"max_completion_tokens": unsupported(), "verbosity": unsupported(`"medium"`), "prediction": unsupported(),
	"service_tier": unsupported(`"auto"`, `"default"`), "store": unsupported("false"),
}

var messageFields = fields{
	"role": {}, "content": {}, "refusal": {}, "annotations": refused(oneText, "[]"),
	"name":       unsupported(),
	"tool_calls": refused(noTools, "[]"), "tool_call_id": refused(noTools), "function_call": refused(noTools),
	"audio": refused(noMedia),
}

var chatParts = parts{
	text:  map[string]fields{"text": {"type": {}, "text": {}}, "refusal": {"type": {}, "refusal": {}}},
	image: map[string]fields{"image_url": {"type": {}, "image_url": {}}},
	url: func(at string, part []byte, policy *Policy) (string, *apierror.Error) {
		var p struct {
			Image json.RawMessage `json:"image_url"`
		}
		if err := json.Unmarshal(part, &p); err != nil {
			return "", object{at: at}.malformed(err)
		}
		var img struct {
			URL string `json:"url"`
		}
		known := fields{"url": {}, "detail": imageDetail}
		err := object{at: at + ".image_url", fields: known, policy: policy}.read(p.Image, &img)
		return img.URL, err
	},
}

// ParseChat reads the body of a request to /v1/chat/completions. It refuses what a CLI cannot do.
func ParseChat(body []byte, policy *Policy) (*Request, *apierror.Error) {
	var in struct {
		Messages elements        `json:"messages"`
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		Options  json.RawMessage `json:"stream_options"`
		Format   json.RawMessage `json:"response_format"`
		Effort   string          `json:"reasoning_effort"`
		Stop     json.RawMessage `json:"stop"`
	}
	if err := (object{fields: chatFields, policy: policy}).read(body, &in); err != nil {
		return nil, err
	}
	r := &Request{Stream: in.Stream}
	r.Model, r.Options.Effort = Model(in.Model), in.Effort
	var err *apierror.Error
	if r.Usage, err = streamOptions(in.Options); err != nil {
		return nil, err
	}
	if r.Schema, err = chatFormat(in.Format); err != nil {
		return nil, err
	}
	if r.Stop, err = stopTexts(in.Stop); err != nil {
		return nil, err
	}
	c := &conversation{parts: chatParts, policy: policy}
	for i, message := range in.Messages {
		if err := chatMessage(c, fmt.Sprintf("messages[%d]", i), message); err != nil {
			return nil, err
		}
	}
	r.Messages, r.Images = c.messages, c.images
	return r, checkImages("messages", r.Images)
}

func chatMessage(c *conversation, at string, data []byte) *apierror.Error {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Refusal string          `json:"refusal"`
	}
	if err := (object{at: at, fields: messageFields, policy: c.policy}).read(data, &m); err != nil {
		return err
	}
	return c.read(at, m.Role, m.Content, m.Refusal)
}

// streamOptions reports whether a stream ends with the usage.
func streamOptions(data json.RawMessage) (usage bool, err *apierror.Error) {
	if data == nil {
		return false, nil
	}
	var in struct {
		Usage bool `json:"include_usage"`
	}
	err = object{at: "stream_options", fields: fields{"include_usage": {}, "include_obfuscation": inert}}.read(data, &in)
	return in.Usage, err
}

func chatFormat(data json.RawMessage) (json.RawMessage, *apierror.Error) {
	if data == nil {
		return nil, nil
	}
	var in struct {
		Type   string          `json:"type"`
		Format json.RawMessage `json:"json_schema"`
	}
	const at = "response_format"
	if err := (object{at: at, fields: fields{"type": {}, "json_schema": {}}}).read(data, &in); err != nil {
		return nil, err
	}
	const within = at + ".json_schema"
	var f answerFormat
	if in.Format != nil {
		if err := (object{at: within, fields: formats}).read(in.Format, &f); err != nil {
			return nil, err
		}
	}
	f.Type = in.Type
	return f.schema(at, within)
}
