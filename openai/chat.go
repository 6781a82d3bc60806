package openai

import (
	"encoding/json"
	"fmt"
	"time"
)

var chatFields = fields{
	"messages": {}, "model": {}, "stream": {}, "stream_options": {}, "response_format": {}, "reasoning_effort": {},

	"user": ignored, "metadata": ignored, "safety_identifier": ignored, "prompt_cache_key": ignored,
	"prompt_cache_retention": ignored, "parallel_tool_calls": ignored,

	"tools": no(noTools, "[]"), "tool_choice": no(noTools, `"none"`, `"auto"`), "functions": no(noTools, "[]"),
	"function_call": no(noTools, `"none"`, `"auto"`), "web_search_options": no(noTools),
	"modalities": no(noMedia, `["text"]`), "audio": no(noMedia),
	"n": no(oneText, "1"), "stop": no(oneText, "[]"),
	"logprobs": no(oneText, "false"), "top_logprobs": no(oneText, "0"),
	"prediction": no(oneText), "store": no(noMemory, "false"),

	"temperature": sampling("1"), "top_p": sampling("1"), "frequency_penalty": sampling("0"),
	"presence_penalty": sampling("0"), "logit_bias": sampling("{}"), "seed": sampling(), "max_tokens": sampling(),
	"max_completion_tokens": sampling(), "verbosity": sampling(`"medium"`),
	"service_tier": sampling(`"auto"`, `"default"`),
}

var messageFields = fields{
	"role": {}, "content": {}, "refusal": {}, "annotations": no(oneText, "[]"),
	"name":       no("CLIs know no names of speakers"),
	"tool_calls": no(noTools, "[]"), "tool_call_id": no(noTools), "function_call": no(noTools), "audio": no(noMedia),
}

var chatParts = parts{
	text:  map[string]fields{"text": {"type": {}, "text": {}}, "refusal": {"type": {}, "refusal": {}}},
	image: map[string]fields{"image_url": {"type": {}, "image_url": {}}},
	url: func(at string, part []byte) (string, *apiError) {
		var p struct {
			Image json.RawMessage `json:"image_url"`
		}
		if err := json.Unmarshal(part, &p); err != nil {
			return "", object{at: at}.malformed(err)
		}
		var img struct {
			URL string `json:"url"`
		}
		err := object{at: at + ".image_url", fields: fields{"url": {}, "detail": imageDetail}}.read(p.Image, &img)
		return img.URL, err
	},
}

// chatAPI is /v1/chat/completions.
var chatAPI = api{
	read: readChat,
	params: paramsOf(map[string]string{
		"messages": "messages", "model": "model", "schema": "response_format",
		"options.effort": "reasoning_effort", "options.images": "messages",
	}),
	whole: wholeChat,
	voice: func(q *question) voice { return &chatVoice{q: q} },
}

func readChat(body []byte, ignore []string) (*question, *apiError) {
	var in struct {
		Messages pieces          `json:"messages"`
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		Options  json.RawMessage `json:"stream_options"`
		Format   json.RawMessage `json:"response_format"`
		Effort   string          `json:"reasoning_effort"`
	}
	if err := (object{fields: chatFields, ignore: ignore}).read(body, &in); err != nil {
		return nil, err
	}
	q := &question{id: newID("chatcmpl-"), asked: time.Now(), stream: in.Stream}
	q.req.Model, q.req.Options.Effort = modelOf(in.Model), in.Effort
	var err *apiError
	if q.usage, err = streamOptions(in.Options); err != nil {
		return nil, err
	}
	if q.req.Schema, err = chatFormat(in.Format); err != nil {
		return nil, err
	}
	t := &talk{}
	for i, message := range in.Messages {
		if err := chatMessage(t, fmt.Sprintf("messages[%d]", i), message); err != nil {
			return nil, err
		}
	}
	q.req.Messages, q.images = t.messages, t.images
	return q, tooMany("messages", q.images)
}

func chatMessage(t *talk, at string, data []byte) *apiError {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Refusal string          `json:"refusal"`
	}
	if err := (object{at: at, fields: messageFields}).read(data, &m); err != nil {
		return err
	}
	r, err := role(at+".role", m.Role)
	if err != nil {
		return err
	}
	c, err := chatParts.read(at+".content", m.Content)
	if err != nil {
		return err
	}
	c.text += m.Refusal
	return t.say(at, r, c)
}

// streamOptions reads whether a stream ends with its usage.
func streamOptions(data json.RawMessage) (usage bool, err *apiError) {
	if data == nil {
		return false, nil
	}
	var in struct {
		Usage bool `json:"include_usage"`
	}
	err = object{at: "stream_options", fields: fields{"include_usage": {}, "include_obfuscation": ignored}}.read(data, &in)
	return in.Usage, err
}

func chatFormat(data json.RawMessage) (json.RawMessage, *apiError) {
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
