package loopback

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// protocol is one API: how to recognize a request, read it, and answer it.
type protocol struct {
	name    Protocol
	matches func(path string) bool
	read    func(r *http.Request, body []byte) (v view, side bool)
	encode  func(q Request, r Reply) stream
	whole   func(q Request, r Reply) any       // the answer to a request without a stream
	problem func(code int, kind, m string) any // an error body
	side    Reply                              // the answer to a Side request
}

var protocols = []*protocol{&messagesProtocol, &responsesProtocol, &chatProtocol, &geminiProtocol, &codeAssistProtocol}

func protocolFor(r *http.Request) *protocol {
	i := slices.IndexFunc(protocols, func(p *protocol) bool { return p.matches(r.URL.Path) })
	if r.Method != http.MethodPost || i < 0 {
		return nil
	}
	return protocols[i]
}

func (p *protocol) writeStatus(w http.ResponseWriter, s *statusReply) {
	body := s.body
	if s.kind != "" {
		body = mustJSON(p.problem(s.code, s.kind, s.body))
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(s.code)
	_, _ = fmt.Fprint(w, body)
}

func endsWith(suffixes ...string) func(string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(path, s) })
	}
}

// The figures of every answer. Tests compare them with the figures that a CLI reports.
const (
	InputTokens     = 12
	CachedTokens    = 3
	OutputTokens    = 7
	ReasoningTokens = 1
)

func callID(q Request, i int) string { return fmt.Sprintf("call_%d_%d", q.N, i) }

// texts returns the texts of a list of content blocks. The APIs accept a string or a list everywhere.
func texts(content any) (out []string) {
	if text, ok := content.(string); ok {
		return []string{text}
	}
	blocks, _ := content.([]any)
	for _, block := range blocks {
		b, _ := block.(object)
		if t, ok := b["text"].(string); ok {
			out = append(out, t)
		}
	}
	return out
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func str(v any) string { s, _ := v.(string); return s }
