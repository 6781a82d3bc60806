package loopback

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// geminiProtocol is the Gemini API, as gemini uses it with a key.
var geminiProtocol = protocol{
	name:    Gemini,
	matches: endsWith(":generateContent", ":streamGenerateContent", ":countTokens"),
	read:    readGemini,
	encode:  encodeGemini,
	whole:   wholeGemini,
	aside:   func(Request) Reply { return Text(routerAnswer) },
	problem: func(code int, kind, m string) any {
		return object{"error": object{"code": code, "message": m, "status": kind, "details": []any{}}}
	},
}

// routerAnswer is what the CLI's "auto" model expects from the small model that it asks for a choice first.
const routerAnswer = `{"reasoning":"loopback","model_choice":"flash","complexity_reasoning":"loopback","complexity_score":10}`

var geminiModel = regexp.MustCompile(`/models/([^/:]+):`)

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text             *string `json:"text"`
	FunctionResponse *struct {
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

type geminiBody struct {
	Contents          []geminiContent `json:"contents"`
	SystemInstruction geminiContent   `json:"systemInstruction"`
	Tools             []struct {
		FunctionDeclarations []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

func readGemini(r *http.Request, body []byte) (view, bool) {
	var b geminiBody
	if json.Unmarshal(body, &b) != nil {
		return view{}, false
	}
	v := view{stream: strings.HasSuffix(r.URL.Path, ":streamGenerateContent")}
	if m := geminiModel.FindStringSubmatch(r.URL.Path); m != nil {
		v.model = m[1]
	}
	v.system = strings.Join(b.SystemInstruction.texts(), "\n")
	for _, c := range b.Contents {
		v.results = append(v.results, c.results()...)
		if t := c.texts(); c.Role == "user" && len(t) > 0 {
			v.prompt = last(t)
		}
	}
	for _, t := range b.Tools {
		for _, f := range t.FunctionDeclarations {
			v.tools = append(v.tools, f.Name)
		}
	}
	return v, !v.stream
}

func (c geminiContent) texts() []string {
	var out []string
	for _, p := range c.Parts {
		if p.Text != nil {
			out = append(out, *p.Text)
		}
	}
	return out
}

func (c geminiContent) results() []string {
	var out []string
	for _, p := range c.Parts {
		if p.FunctionResponse != nil {
			out = append(out, string(p.FunctionResponse.Response))
		}
	}
	return out
}

func geminiUsage() object {
	return object{"promptTokenCount": InputTokens, "candidatesTokenCount": OutputTokens,
		"totalTokenCount": InputTokens + OutputTokens, "cachedContentTokenCount": CachedTokens}
}

func geminiParts(r Reply) []any {
	var parts []any
	for _, p := range r.parts {
		switch p.kind {
		case textPart:
			for _, word := range pieces(p.text) {
				parts = append(parts, object{"text": word})
			}
		case thinkingPart:
			parts = append(parts, object{"text": p.text, "thought": true})
		case toolPart:
			parts = append(parts, object{"functionCall": object{"name": p.tool, "args": p.args}})
		}
	}
	return parts
}

func geminiCandidate(parts []any, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{"candidates": []any{candidate}, "modelVersion": "loopback"}
}

func encodeGemini(_ Request, r Reply) stream {
	var s stream
	if f := r.failure; f != nil {
		s.content = []frame{{data: object{"error": object{"code": 500, "status": f.code, "message": f.message}}}}
		return s
	}
	for _, p := range geminiParts(r) {
		s.content = append(s.content, frame{data: geminiCandidate([]any{p}, "")})
	}
	end := geminiCandidate([]any{}, "STOP")
	end["usageMetadata"] = geminiUsage()
	s.end = []frame{{data: end}}
	return s
}

func wholeGemini(_ Request, r Reply) any {
	answer := geminiCandidate(geminiParts(r), "STOP")
	answer["usageMetadata"] = geminiUsage()
	answer["totalTokens"] = InputTokens // what :countTokens is read for
	return answer
}
