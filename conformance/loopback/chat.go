package loopback

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// chatProtocol is OpenAI chat completions. qwen uses it, and opencode uses it for the providers that a user adds.
var chatProtocol = protocol{
	name:    Chat,
	matches: endsWith("/chat/completions"),
	read:    readChat,
	encode:  encodeChat,
	whole:   wholeChat,
	side:    Text("A title"),
	problem: openAIProblem,
}

type chatBody struct {
	Model    string
	Stream   bool
	Messages []message
	Tools    []struct{ Function struct{ Name string } }
}

// sidePrompts begin the system prompts of side calls: opencode asks for the title of a session, and qwen for facts to
// remember.
var sidePrompts = []string{"You are a title generator", "You are now acting as the managed memory extraction subagent"}

func readChat(_ *http.Request, body []byte) (view, bool) {
	var b chatBody
	if json.Unmarshal(body, &b) != nil {
		return view{}, false
	}
	v := view{model: b.Model, stream: b.Stream}
	var system []string
	for _, m := range b.Messages {
		switch m.Role {
		case "user":
			v.prompt = strings.Join(texts(m.Content), "")
		case "tool":
			v.results = append(v.results, strings.Join(texts(m.Content), "\n"))
		case "system", "developer":
			system = append(system, texts(m.Content)...)
		}
	}
	v.system = strings.Join(system, "\n")
	for _, t := range b.Tools {
		v.tools = append(v.tools, t.Function.Name)
	}
	return v, slices.ContainsFunc(sidePrompts, func(p string) bool { return strings.HasPrefix(v.system, p) })
}

func chatUsage() object {
	return object{"prompt_tokens": InputTokens, "completion_tokens": OutputTokens,
		"total_tokens": InputTokens + OutputTokens, "prompt_tokens_details": object{"cached_tokens": CachedTokens}}
}

func encodeChat(q Request, r Reply) stream {
	chunk := func(choices ...any) object {
		return object{"id": "chat_loopback", "object": "chat.completion.chunk", "created": 1, "model": q.Model(),
			"choices": append([]any{}, choices...)}
	}
	delta := func(d object, finish any) frame {
		return frame{data: chunk(object{"index": 0, "delta": d, "finish_reason": finish})}
	}
	s := stream{content: []frame{delta(object{"role": "assistant", "content": ""}, nil)}}
	for i, p := range r.parts {
		for _, d := range chatDeltas(q, i, p) {
			s.content = append(s.content, delta(d, nil))
		}
	}
	if f := r.failure; f != nil {
		s.content = append(s.content, frame{data: openAIProblem(0, f.code, f.message)})
		return s
	}
	usage := chunk()
	usage["usage"] = chatUsage()
	finish := r.finish("tool_calls", "stop")
	if r.full {
		finish = "length"
	}
	s.end = []frame{delta(object{}, finish), {data: usage}, {raw: "[DONE]"}}
	return s
}

func chatDeltas(q Request, i int, p part) (deltas []object) {
	switch p.kind {
	case thinkingPart:
		return []object{{"reasoning_content": p.text}}
	case toolPart:
		return []object{{"tool_calls": []any{chatCall(q, i, p)}}}
	}
	for _, word := range pieces(p.text) {
		deltas = append(deltas, object{"content": word})
	}
	return deltas
}

func chatCall(q Request, i int, p part) object {
	return object{"index": i, "id": callID(q, i), "type": "function",
		"function": object{"name": p.tool, "arguments": mustJSON(p.args)}}
}

func wholeChat(q Request, r Reply) any {
	message := object{"role": "assistant", "content": r.wholeText()}
	for i, p := range r.parts {
		if p.kind == toolPart {
			calls, _ := message["tool_calls"].([]any)
			message["tool_calls"] = append(calls, chatCall(q, i, p))
		}
	}
	return object{"id": "chat_loopback", "object": "chat.completion", "created": 1, "model": q.Model(),
		"usage":   chatUsage(),
		"choices": []any{object{"index": 0, "message": message, "finish_reason": r.finish("tool_calls", "stop")}}}
}
