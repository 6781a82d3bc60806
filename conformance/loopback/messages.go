package loopback

import (
	"encoding/json"
	"net/http"
	"strings"
)

// messagesProtocol is Anthropic Messages, as claude uses it.
var messagesProtocol = protocol{
	name:    Messages,
	matches: endsWith("/v1/messages", "/v1/messages/count_tokens"),
	read:    readMessages,
	encode:  encodeMessages,
	whole:   wholeMessages,
	problem: func(_ int, kind, m string) any {
		return object{"type": "error", "error": object{"type": kind, "message": m}, "request_id": "req_loopback"}
	},
}

type messagesBody struct {
	Model    string
	Stream   bool
	System   any
	Messages []message
	Tools    []struct{ Name string }
}

type message struct {
	Role    string
	Content any
}

func readMessages(r *http.Request, body []byte) (view, bool) {
	var b messagesBody
	if json.Unmarshal(body, &b) != nil {
		return view{}, false
	}
	v := view{model: b.Model, stream: b.Stream}
	system := texts(b.System)
	for _, m := range b.Messages {
		switch m.Role {
		case "user":
			v.results = append(v.results, toolResults(m.Content)...)
			if t := texts(m.Content); len(t) > 0 {
				v.prompt = last(t)
			}
		case "system":
			system = append(system, texts(m.Content)...)
		}
	}
	v.system = strings.Join(system, "\n")
	for _, t := range b.Tools {
		v.tools = append(v.tools, t.Name)
	}
	return v, strings.HasSuffix(r.URL.Path, "/count_tokens")
}

func toolResults(content any) (out []string) {
	blocks, _ := content.([]any)
	for _, block := range blocks {
		if b, ok := block.(object); ok && b["type"] == "tool_result" {
			out = append(out, strings.Join(texts(b["content"]), "\n"))
		}
	}
	return out
}

func messagesUsage(output int) object {
	return object{"input_tokens": InputTokens, "output_tokens": output,
		"cache_creation_input_tokens": 0, "cache_read_input_tokens": CachedTokens}
}

func messagesHead(q Request) object {
	return object{"id": "msg_loopback", "type": "message", "role": "assistant", "model": q.Model(),
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": messagesUsage(1)}
}

func encodeMessages(q Request, r Reply) stream {
	s := stream{content: []frame{typed(object{"type": "message_start", "message": messagesHead(q)})}}
	for i, p := range r.parts {
		s.content = append(s.content, messagesBlock(q, i, p)...)
	}
	if len(r.parts) > 0 && (r.open || r.failure != nil) {
		s.content = s.content[:len(s.content)-1] // the stop of the last block
	}
	if f := r.failure; f != nil {
		problem := object{"type": "error", "error": object{"type": f.code, "message": f.message}}
		s.content = append(s.content, typed(problem))
		return s
	}
	s.end = []frame{
		typed(object{"type": "message_delta", "usage": object{"output_tokens": OutputTokens},
			"delta": object{"stop_reason": r.finish("tool_use", "end_turn"), "stop_sequence": nil}}),
		typed(object{"type": "message_stop"}),
	}
	return s
}

// messagesBlock is one content block of a stream: start, its deltas, stop.
func messagesBlock(q Request, i int, p part) []frame {
	var deltas []object
	start := messagesContent(q, i, p)
	switch p.kind {
	case textPart:
		start["text"] = ""
		for _, word := range pieces(p.text) {
			deltas = append(deltas, object{"type": "text_delta", "text": word})
		}
	case thinkingPart:
		deltas = []object{{"type": "thinking_delta", "thinking": p.text},
			{"type": "signature_delta", "signature": start["signature"]}}
		start["thinking"], start["signature"] = "", ""
	case toolPart:
		start["input"] = object{}
		deltas = []object{{"type": "input_json_delta", "partial_json": mustJSON(p.args)}}
	}
	frames := []frame{typed(object{"type": "content_block_start", "index": i, "content_block": start})}
	for _, d := range deltas {
		frames = append(frames, typed(object{"type": "content_block_delta", "index": i, "delta": d}))
	}
	return append(frames, typed(object{"type": "content_block_stop", "index": i}))
}

// messagesContent is one content block as a whole.
func messagesContent(q Request, i int, p part) object {
	switch p.kind {
	case thinkingPart:
		return object{"type": "thinking", "thinking": p.text, "signature": "bG9vcGJhY2s="}
	case toolPart:
		return object{"type": "tool_use", "id": callID(q, i), "name": p.tool, "input": p.args}
	}
	return object{"type": "text", "text": p.text}
}

// typed is a frame whose event has the name of its type, as Anthropic and the Responses API send them.
func typed(data object) frame { return frame{event: str(data["type"]), data: data} }

func wholeMessages(q Request, r Reply) any {
	if q.Side {
		return object{"input_tokens": InputTokens}
	}
	content := []any{}
	for i, p := range r.parts {
		content = append(content, messagesContent(q, i, p))
	}
	m := messagesHead(q)
	m["stop_reason"], m["usage"], m["content"] = r.finish("tool_use", "end_turn"), messagesUsage(OutputTokens), content
	return m
}
