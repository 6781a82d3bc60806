package loopback

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responsesProtocol is OpenAI Responses, as codex uses it.
var responsesProtocol = protocol{
	name:    Responses,
	matches: endsWith("/v1/responses"),
	read:    readResponses,
	encode:  encodeResponses,
	whole:   func(_ Request, r Reply) any { return object{"id": "resp_loopback", "output_text": r.wholeText()} },
	problem: openAIProblem,
}

func openAIProblem(_ int, kind, m string) any {
	return object{"error": object{"message": m, "type": kind, "param": nil, "code": kind}}
}

type responsesBody struct {
	Model, Instructions string
	Stream              bool
	Tools               []responseTool
	Input               []struct {
		Type, Role      string
		Content, Output any
		Tools           []responseTool
	}
}

type responseTool struct {
	Type, Name string
	Tools      []responseTool
}

func readResponses(_ *http.Request, body []byte) (view, bool) {
	var b responsesBody
	if json.Unmarshal(body, &b) != nil {
		return view{}, false
	}
	v := view{model: b.Model, stream: b.Stream, tools: responseToolNames(b.Tools)}
	system := []string{b.Instructions}
	for _, item := range b.Input {
		// Some models get their tools as an item of the conversation, not in the list of tools.
		v.tools = append(v.tools, responseToolNames(item.Tools)...)
		switch {
		case strings.HasSuffix(item.Type, "call_output"):
			v.results = append(v.results, strings.Join(texts(item.Output), "\n"))
		case item.Role == "user":
			v.prompt = last(texts(item.Content))
		case item.Role != "assistant":
			system = append(system, texts(item.Content)...)
		}
	}
	v.system = strings.TrimPrefix(strings.Join(system, "\n"), "\n")
	return v, false
}

func responseToolNames(tools []responseTool) (names []string) {
	for _, t := range tools {
		if len(t.Tools) > 0 {
			names = append(names, responseToolNames(t.Tools)...)
		} else {
			names = append(names, cmp.Or(t.Name, t.Type))
		}
	}
	return names
}

func encodeResponses(q Request, r Reply) stream {
	head := object{"type": "response.created", "response": object{"id": "resp_loopback"}}
	s := stream{content: []frame{typed(head)}}
	for i, p := range r.parts {
		s.content = append(s.content, responseOutput(q, i, p)...)
	}
	if f := r.failure; f != nil {
		s.content = append(s.content, typed(object{"type": "response.failed", "response": object{
			"id": "resp_loopback", "status": "failed", "error": object{"code": f.code, "message": f.message}}}))
		return s
	}
	s.end = []frame{typed(object{"type": "response.completed", "response": object{"id": "resp_loopback", "usage": object{
		"input_tokens": InputTokens, "input_tokens_details": object{"cached_tokens": CachedTokens},
		"output_tokens": OutputTokens, "output_tokens_details": object{"reasoning_tokens": ReasoningTokens},
		"total_tokens": InputTokens + OutputTokens}}})}
	return s
}

func responseOutput(q Request, i int, p part) []frame {
	done := func(item object) frame {
		return typed(object{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	switch p.kind {
	case thinkingPart:
		return []frame{done(object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", i),
			"summary": []any{object{"type": "summary_text", "text": p.text}}})}
	case toolPart:
		item := object{"type": "function_call", "id": fmt.Sprintf("fc_%d", i), "call_id": callID(q, i),
			"name": p.tool, "arguments": mustJSON(p.args)}
		if p.namespace != "" {
			item["namespace"] = p.namespace
		}
		return []frame{done(item)}
	}
	id := fmt.Sprintf("msg_%d", i)
	frames := []frame{typed(object{"type": "response.output_item.added", "output_index": i,
		"item": object{"type": "message", "role": "assistant", "id": id, "content": []any{}}})}
	for _, word := range pieces(p.text) {
		frames = append(frames, typed(object{"type": "response.output_text.delta", "item_id": id,
			"output_index": i, "content_index": 0, "delta": word}))
	}
	return append(frames, done(object{"type": "message", "role": "assistant", "id": id,
		"content": []any{object{"type": "output_text", "text": p.text}}}))
}
