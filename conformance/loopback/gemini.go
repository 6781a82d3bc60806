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
	// The CLI's "auto" model first asks a small model for a choice, and expects this answer.
	side: Text(`{"reasoning":"loopback","model_choice":"flash","complexity_reasoning":"loopback","complexity_score":10}`),
	problem: func(code int, kind, m string) any {
		return object{"error": object{"code": code, "message": m, "status": kind, "details": []any{}}}
	},
}

var geminiModel = regexp.MustCompile(`/models/([^/:]+):`)

type geminiContent struct {
	Role  string
	Parts []struct {
		Text             *string
		FunctionResponse *struct{ Response json.RawMessage }
	}
}

type geminiBody struct {
	Contents          []geminiContent
	SystemInstruction geminiContent
	Tools             []struct{ FunctionDeclarations []struct{ Name string } }
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
	system, _ := b.SystemInstruction.split()
	v.system = strings.Join(system, "\n")
	for _, c := range b.Contents {
		texts, results := c.split()
		v.results = append(v.results, results...)
		if c.Role == "user" && len(texts) > 0 {
			v.prompt = last(texts)
		}
	}
	for _, t := range b.Tools {
		for _, f := range t.FunctionDeclarations {
			v.tools = append(v.tools, f.Name)
		}
	}
	return v, !v.stream
}

func (c geminiContent) split() (texts, results []string) {
	for _, p := range c.Parts {
		if p.Text != nil {
			texts = append(texts, *p.Text)
		}
		if p.FunctionResponse != nil {
			results = append(results, string(p.FunctionResponse.Response))
		}
	}
	return texts, results
}

func geminiUsage() object {
	return object{"promptTokenCount": InputTokens, "candidatesTokenCount": OutputTokens,
		"totalTokenCount": InputTokens + OutputTokens, "cachedContentTokenCount": CachedTokens}
}

func geminiParts(r Reply) (parts []any) {
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

func geminiCandidate(q Request, parts []any, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{"candidates": []any{candidate}, "modelVersion": q.Model()}
}

func encodeGemini(q Request, r Reply) stream {
	var s stream
	for _, p := range geminiParts(r) {
		s.content = append(s.content, frame{data: geminiCandidate(q, []any{p}, "")})
	}
	if f := r.failure; f != nil {
		failed := object{"code": 500, "status": f.code, "message": f.message}
		s.content = append(s.content, frame{data: object{"error": failed}})
		return s
	}
	end := geminiCandidate(q, []any{}, "STOP")
	end["usageMetadata"] = geminiUsage()
	s.end = []frame{{data: end}}
	return s
}

func wholeGemini(q Request, r Reply) any {
	answer := geminiCandidate(q, geminiParts(r), "STOP")
	answer["usageMetadata"] = geminiUsage()
	answer["totalTokens"] = InputTokens // the answer to :countTokens
	return answer
}
