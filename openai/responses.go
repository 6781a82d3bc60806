package openai

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/clichain/clichain"
)

var responsesFields = fields{
	"input": {}, "model": {}, "stream": {}, "stream_options": {}, "instructions": {}, "text": {}, "reasoning": {},
	"metadata": {},

	"user": ignored, "safety_identifier": ignored, "prompt_cache_key": ignored, "prompt_cache_retention": ignored,
	"parallel_tool_calls": ignored,

	"tools": no(noTools, "[]"), "tool_choice": no(noTools, `"none"`, `"auto"`), "max_tool_calls": no(noTools),
	"include": no(oneText, "[]"), "top_logprobs": no(oneText, "0"),
	"previous_response_id": no(noMemory), "conversation": no(noMemory), "background": no(noMemory, "false"),
	"store": no(noMemory, "false"), "prompt": no(noMemory), "truncation": no("nothing is cut", `"disabled"`),

	"temperature": sampling("1"), "top_p": sampling("1"), "max_output_tokens": sampling(),
	"service_tier": sampling(`"auto"`, `"default"`),
}

var itemFields = fields{"type": {}, "role": {}, "content": {}, "id": ignored, "status": ignored, "phase": ignored}

var responsesParts = parts{
	text: map[string]fields{
		"input_text": {"type": {}, "text": {}},
		"output_text": {
			"type": {}, "text": {}, "annotations": no(oneText, "[]"), "logprobs": no(oneText, "[]"),
		},
		"refusal": {"type": {}, "refusal": {}},
	},
	image: map[string]fields{"input_image": {"type": {}, "image_url": {}, "file_id": no(noMemory), "detail": imageDetail}},
	url: func(at string, part []byte) (string, *apiError) {
		var p struct {
			URL string `json:"image_url"`
		}
		if err := json.Unmarshal(part, &p); err != nil {
			return "", object{at: at}.malformed(err)
		}
		return p.URL, nil
	},
}

// responsesAPI is /v1/responses.
var responsesAPI = api{
	read: readResponses,
	params: paramsOf(map[string]string{
		"messages": "input", "model": "model", "schema": "text.format",
		"options.effort": "reasoning.effort", "options.images": "input",
	}),
	whole: func(q *question, resp *clichain.Response) any {
		r := newResponse(q, resp.Model)
		return r.completed("msg_"+r.ID[len(responseID):], resp)
	},
	voice: func(q *question) voice { return &responseVoice{q: q} },
}

const responseID = "resp_"

func readResponses(body []byte, ignore []string) (*question, *apiError) {
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
	if err := (object{fields: responsesFields, ignore: ignore}).read(body, &in); err != nil {
		return nil, err
	}
	q := &question{
		id: newID(responseID), asked: time.Now(), stream: in.Stream, instructions: in.Instructions, metadata: in.Metadata,
	}
	q.req.Model = modelOf(in.Model)
	var err *apiError
	if _, err = streamOptions(in.Options); err != nil {
		return nil, err
	}
	if q.req.Options.Effort, err = reasoning(in.Reasoning, ignore); err != nil {
		return nil, err
	}
	if q.req.Schema, err = responseFormat(in.Text, ignore); err != nil {
		return nil, err
	}
	t := &talk{}
	if in.Instructions != nil {
		t.messages = append(t.messages, clichain.Message{Role: clichain.RoleSystem, Content: *in.Instructions})
	}
	if err := input(t, in.Input); err != nil {
		return nil, err
	}
	q.req.Messages, q.images = t.messages, t.images
	return q, tooMany("input", q.images)
}

// input reads a text, or a list of messages.
func input(t *talk, data json.RawMessage) *apiError {
	var c content
	if json.Unmarshal(data, &c.text) == nil {
		return t.say("input", clichain.RoleUser, c)
	}
	var items pieces
	if err := json.Unmarshal(data, &items); err != nil {
		return refusal("input", "invalid_type", "write a text, or a list of messages")
	}
	for i, item := range items {
		if err := inputItem(t, fmt.Sprintf("input[%d]", i), item); err != nil {
			return err
		}
	}
	return nil
}

func inputItem(t *talk, at string, data []byte) *apiError {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return object{at: at}.malformed(err)
	}
	if kind.Type != "" && kind.Type != "message" {
		return refusal(at+".type", "unsupported_value", "items of the type %q have no place here: send messages", kind.Type)
	}
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := (object{at: at, fields: itemFields}).read(data, &m); err != nil {
		return err
	}
	r, err := role(at+".role", m.Role)
	if err != nil {
		return err
	}
	c, err := responsesParts.read(at+".content", m.Content)
	if err != nil {
		return err
	}
	return t.say(at, r, c)
}

func reasoning(data json.RawMessage, ignore []string) (effort string, err *apiError) {
	if data == nil {
		return "", nil
	}
	var in struct {
		Effort string `json:"effort"`
	}
	known := fields{"effort": {}, "summary": no(oneText), "generate_summary": no(oneText)}
	err = object{at: "reasoning", fields: known, ignore: ignore}.read(data, &in)
	return in.Effort, err
}

func responseFormat(data json.RawMessage, ignore []string) (json.RawMessage, *apiError) {
	if data == nil {
		return nil, nil
	}
	var in struct {
		Format json.RawMessage `json:"format"`
	}
	known := fields{"format": {}, "verbosity": sampling(`"medium"`)}
	if err := (object{at: "text", fields: known, ignore: ignore}).read(data, &in); err != nil || in.Format == nil {
		return nil, err
	}
	var f answerFormat
	const at = "text.format"
	if err := (object{at: at, fields: formats}).read(in.Format, &f); err != nil {
		return nil, err
	}
	return f.schema(at, at)
}
